// `millrace stats --since`: what became of runs, by type or step by step.
import type { Duration, LetterPoint, MetricStep, RunSummary, SeriesPoint, TypeReport } from 'millrace'
import type { ClientOptions } from '../client.ts'
import { duration, oneLine, print, printJson } from '../print.ts'
import type { Operations } from '../remote/operations.ts'
import { table } from '../table.ts'

export interface StatsOptions extends ClientOptions {
  readonly since?: Duration
  readonly by?: MetricStep
  readonly queue?: string
  readonly type?: string
}

export async function printReport(millrace: Operations, options: StatsOptions & { since: Duration }): Promise<void> {
  const { since, by, queue, type, json } = options
  const span = { since, ...(queue !== undefined && { queue }), ...(type !== undefined && { type }) }
  if (by === undefined) {
    const report = await millrace.reports.runs(span)
    if (json) return printJson(report)
    return print(report.types.length === 0 ? NOTHING : typesText(report.types, report.total))
  }
  const series = await millrace.reports.series({ ...span, step: by })
  const letters = by === 'minute' ? undefined : await millrace.reports.deadLetters({ ...span, step: by })
  if (json) return printJson({ ...series, ...(letters && { deadLetters: letters }) })
  const isEmpty =
    series.points.every(({ runs }) => runs === 0) && !letters?.points.some(({ born, decided }) => born + decided > 0)
  print(isEmpty ? NOTHING : pointsText(series.points, letters?.points))
}

const NOTHING = 'No run ended in that time.\n'

const RUN_TITLES = ['RUNS', 'COMPLETED', 'CANCELLED', 'FAILED', 'RATE', 'P50', 'P95', 'P99', 'WAIT P95', 'LATENCY P95']

function runCells(summary: RunSummary): string[] {
  const { runs, completed, cancelled, failed, dead, crashed, failureRate, duration: took, wait, latency } = summary
  return [
    ...[runs, completed, cancelled, failed + dead + crashed].map(String),
    failureRate === null ? '' : `${(failureRate * 100).toFixed(1)} %`,
    ...[took.p50Ms, took.p95Ms, took.p99Ms, wait.p95Ms, latency.p95Ms].map(duration),
  ]
}

function typesText(types: readonly TypeReport[], total: RunSummary): string {
  const rows = types.map((row) => [oneLine(row.queue, 40), oneLine(row.type, 40), ...runCells(row)])
  return table(['QUEUE', 'TYPE', ...RUN_TITLES], [...rows, ['all', '', ...runCells(total)]])
}

function pointsText(points: readonly SeriesPoint[], letters: readonly LetterPoint[] = []): string {
  const rows = points.map((point, i) => {
    const { born, decided, pending } = letters[i] ?? {}
    return [
      shownTime(point.at),
      ...runCells(point),
      ...[born, decided, pending].map((count) => count?.toString() ?? ''),
    ]
  })
  return table(['FROM (UTC)', ...RUN_TITLES, 'BORN', 'DECIDED', 'DEAD'], rows)
}

const shownTime = (at: Date): string => at.toISOString().slice(0, 16).replace('T', ' ')
