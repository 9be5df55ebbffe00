// An outside service says "not now": the job waits as long as it asks, and keeps its attempt.
import { retryAfterMs } from '@millrace/egress'
import { RetryAfter } from 'millrace'

const PAUSE_MS = 30_000

/** `service` begins a sentence. `limit`: what shares it waits, too. */
interface Who {
  readonly service: string
  readonly limit?: string
}

/** Undefined: the answer says nothing of the kind. A 503 without Retry-After is a failure. */
export function askedToWait(response: Response, { service, limit }: Who): RetryAfter | undefined {
  const { status } = response
  const asked = retryAfterMs(response)
  if (status !== 429 && (status !== 503 || asked === undefined)) return undefined
  const options = limit === undefined ? {} : { limit }
  return Object.assign(new RetryAfter(asked ?? PAUSE_MS, `${service} answered ${status} and asks to wait.`, options), {
    status,
  })
}
