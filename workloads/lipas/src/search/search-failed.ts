// The search service cannot be reached, or refuses. Its address and key are not told: dead letters and logs are read by many.
import { errors } from '@elastic/elasticsearch'

export class SearchFailed extends Error {
  override readonly name = 'SearchFailed'
  /** Of the answer; undefined: there was none. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }

  static from(error: unknown): Error {
    if (error instanceof errors.ResponseError) {
      const { statusCode = 0, body } = error
      const type = (body as { error?: { type?: unknown } } | undefined)?.error?.type
      const reason = typeof type === 'string' ? `: ${type}` : ''
      return new SearchFailed(`The search service answered ${statusCode}${reason}.`, statusCode)
    }
    if (error instanceof errors.TimeoutError) return new SearchFailed('The search service did not answer in time.')
    if (error instanceof errors.ProductNotSupportedError)
      return new SearchFailed('What answered is not Elasticsearch. Look at LIPAS_SEARCH_URL.')
    if (error instanceof errors.ConnectionError)
      return new SearchFailed(`The search service cannot be reached${codeOf(error)}.`)
    return error as Error
  }

  static rethrow(this: void, error: unknown): never {
    throw SearchFailed.from(error)
  }

  static tooBusy(left: number, all: number): SearchFailed {
    return new SearchFailed(
      `The search service was too busy for ${left} of ${all} documents, however often they were sent.`,
      429,
    )
  }

  static item(status: number, type: string | undefined): SearchFailed {
    return new SearchFailed(`The search service refused a document with ${status}: ${type ?? 'no reason'}.`, status)
  }
}

function codeOf(error: errors.ConnectionError): string {
  const code =
    (error.cause as { code?: unknown } | undefined)?.code ?? /\b(E[A-Z]{4,}|UND_ERR_\w+)\b/.exec(error.message)?.[1]
  return typeof code === 'string' ? ` (${code})` : ''
}
