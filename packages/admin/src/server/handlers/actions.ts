import { contract } from '../../contract/operations.ts'
import type { Route } from '../route.ts'
import { given, route } from '../route.ts'
import { decideOn, letterPage } from './dead-letters.ts'

const { actions } = contract

export const actionRoutes: readonly Route[] = [
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
