import { contract } from '../../contract/operations.ts'
import type { Route } from '../route.ts'
import { given, route } from '../route.ts'
import { decideOn, letterPage } from './dead-letters.ts'

const { actions } = contract

const minutes = (ms: number | null | undefined): number | null => (ms == null ? null : Math.floor(ms / 60_000))

export const actionRoutes: readonly Route[] = [
  route(actions.createJobsMetricsReport, async (input, { millrace }) => {
    const report = await millrace.reports.overHours(
      given({ fromHoursAgo: input['from-hours-ago'], toHoursAgo: input['to-hours-ago'] }),
    )
    return {
      'current-stats': { ...report.currentStats },
      health: report.health.verdict,
      'performance-metrics': report.performanceMetrics.map((row) => ({
        type: row.type,
        status: row.status,
        'job-count': row.jobCount,
        'avg-duration-ms': row.avgDurationMs,
        'p50-duration-ms': row.p50DurationMs,
        'p95-duration-ms': row.p95DurationMs,
        'p99-duration-ms': row.p99DurationMs,
        'avg-queue-time-ms': row.avgQueueTimeMs,
      })),
      'hourly-throughput': report.hourlyThroughput.map(({ hour, type, status, jobCount }) => ({
        ...{ hour, type, status },
        'job-count': jobCount,
      })),
      'generated-at': report.generatedAt,
    }
  }),

  route(actions.getJobsHealthStatus, async (_, { millrace }) => {
    const { verdict, reasons, figures } = await millrace.health()
    return {
      status: verdict,
      reasons: reasons.map(({ says }) => says),
      'pending-count': figures?.due ?? null,
      'processing-count': figures?.processing ?? null,
      'failed-count': figures?.failed ?? null,
      'dead-count': figures?.dead ?? null,
      'oldest-pending-minutes': minutes(figures?.oldestDueMs),
      'longest-processing-minutes': minutes(figures?.longestRunMs),
      memory: figures?.memoryRatio ?? null,
      breakers: figures?.breakers ?? [],
    }
  }),

  route(actions.getDeadLetterJobs, async ({ acknowledged, ...page }, { millrace, caller }) => {
    const seen = acknowledged === undefined ? {} : { acknowledged: acknowledged === 'true' }
    const letters = await letterPage(millrace, caller, { ...page, ...seen, status: 'pending' })
    const whole = []
    for (const { id } of letters) {
      const letter = await millrace.deadLetters.get(id)
      // It was forgotten meanwhile.
      if (letter === undefined) continue
      whole.push({
        id,
        'original-job': letter.originalJob,
        'error-message': letter.errorMessage,
        'error-details': letter.errorDetails,
        'correlation-id': letter.correlationId,
        'died-at': letter.diedAt,
        acknowledged: letter.acknowledged,
        'acknowledged-by': letter.acknowledgedBy,
        'acknowledged-at': letter.acknowledgedAt,
      })
    }
    return whole
  }),

  route(actions.reprocessDeadLetterJobs, async (input, { millrace, caller, by }) => {
    const options = { by, ...given({ maxAttempts: input['max-attempts'] }) }
    const results = await decideOn(millrace, caller, input['dead-letter-ids'], (ids) =>
      millrace.deadLetters.redrive(ids, options),
    )
    return results.map((result) => {
      const { id, status } = result
      if ('jobId' in result) return { id, status, 'job-id': result.jobId }
      return 'reason' in result ? { id, status, reason: result.reason, message: result.message } : { id, status }
    })
  }),

  route(actions.acknowledgeDeadLetterJobs, async (input, { millrace, caller, by }) =>
    decideOn(millrace, caller, input['dead-letter-ids'], (ids) => millrace.deadLetters.acknowledge(ids, { by })),
  ),
]
