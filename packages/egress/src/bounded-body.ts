// The body of an answer as the caller reads it: decoded bytes are counted, silence is timed, and whatever ends the body
// also ends the call.
import type { Readable } from 'node:stream'
import type { Budget } from './budget.ts'
import type { Deadline } from './deadline.ts'
import { decoded } from './decode.ts'
import { EgressBudgetExceeded, EgressError, EgressFailed } from './errors.ts'

export interface BodyFacts {
  source: Readable
  headers: Headers
  budget: Budget
  deadline: Deadline
  shown: string
}

export function boundedBody({ source, headers, budget, deadline, shown }: BodyFacts): ReadableStream<Uint8Array> {
  const { maxBytes } = budget
  const encoding = headers.get('content-encoding')
  // A length that is too large needs no reading; the encoded length says nothing about the decoded one.
  if (encoding === null && Number(headers.get('content-length')) > maxBytes) throw tooManyBytes(maxBytes, shown)
  const chunks = decoded(source, encoding, shown)[Symbol.asyncIterator]()
  let bytes = 0

  const fail = (error: unknown) => {
    const reason = bodyError(error, deadline.signal, shown)
    deadline.stop(reason)
    source.destroy()
    return reason
  }

  return new ReadableStream<Uint8Array>({
    start(controller) {
      // A caller who does not read must learn of the deadline too.
      deadline.signal.addEventListener('abort', () => controller.error(fail(deadline.signal.reason)), { once: true })
    },
    async pull(controller) {
      try {
        const { done, value } = await deadline.chunk(chunks.next())
        if (done) {
          deadline.end()
          controller.close()
          return
        }
        bytes += value.byteLength
        if (bytes > maxBytes) throw tooManyBytes(maxBytes, shown)
        controller.enqueue(value)
      } catch (error) {
        controller.error(fail(error))
      }
    },
    cancel(reason) {
      deadline.stop(reason)
      source.destroy()
    },
  })
}

function tooManyBytes(maxBytes: number, shown: string): EgressBudgetExceeded {
  return new EgressBudgetExceeded(
    'too_many_bytes',
    maxBytes,
    `${shown} sent more than ${maxBytes} bytes, counted after decompression. If that is right, give the call a larger budget (maxBytes).`,
  )
}

function bodyError(error: unknown, signal: AbortSignal, shown: string): unknown {
  if (signal.aborted) return signal.reason
  if (error instanceof EgressError) return error
  const isCoding = error instanceof Error && 'code' in error && /^(Z_|ERR_.*_|ERR__|ZSTD_)/.test(String(error.code))
  return isCoding
    ? new EgressFailed('bad_response', `${shown} sent a body that cannot be decompressed.`, error)
    : new EgressFailed('connection_failed', `${shown} broke off its answer. Try again later.`, error)
}
