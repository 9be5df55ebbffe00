// What can go wrong between a feed and its items, as a source remembers it: `error_type` and a sentence.
import { EgressError, type EgressErrorCode, retryAfterMs } from '@millrace/egress'

/** A fetch that failed for a reason that lies with the source. */
export class FeedError extends Error {
  override readonly name: string = 'FeedError'
  /** As in rss_sources.last_error_type and the label of rss_fetch_errors_total. */
  readonly errorType: string
  /** How long the server asks to be left alone. */
  readonly retryAfterMs: number | undefined

  constructor(
    errorType: string,
    message: string,
    options: { retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.errorType = errorType
    this.retryAfterMs = options.retryAfterMs
  }
}

/** `what` is wrong with a document, as the rest of a sentence: "it is a web page." */
export class InvalidXml extends FeedError {
  readonly what: string

  constructor(what: string, cause?: unknown) {
    super('InvalidXml', `The answer is not a feed: ${what}`, { cause })
    this.what = what
  }
}

const TIMED_OUT = 'HttpTimeoutException'
const REFUSED = 'AddressRefused'

const BY_CODE: Readonly<Partial<Record<EgressErrorCode, string>>> = {
  headers_timeout: TIMED_OUT,
  idle_timeout: TIMED_OUT,
  total_timeout: TIMED_OUT,
  too_many_bytes: 'BodyTooLarge',
  too_many_redirects: 'TooManyRedirects',
  address_refused: REFUSED,
  local_name: REFUSED,
  port_refused: REFUSED,
  scheme_refused: REFUSED,
  credentials_in_url: REFUSED,
  invalid_url: REFUSED,
  redirect_refused: REFUSED,
  dns_failed: 'DnsFailure',
  tls_failed: 'TlsFailure',
  connection_failed: 'ConnectionFailed',
  bad_response: 'BadResponse',
}

/** The source's share in an error, or undefined if it has none: a stopped run, a bug of ours, a lost database. */
export function feedErrorFrom(error: unknown): FeedError | undefined {
  if (error instanceof FeedError) return error
  const errorType = error instanceof EgressError ? BY_CODE[error.code] : undefined
  return errorType === undefined ? undefined : new FeedError(errorType, (error as Error).message, { cause: error })
}

const MEANINGS: Readonly<Record<number, string>> = {
  401: 'it wants a password',
  403: 'it refuses us; some sites refuse user agents, so give the source another user_agent',
  404: 'it has moved or is gone; check the url of the source',
  410: 'it is gone for good',
  429: 'it is asked too often; give the source a longer interval',
}

export function statusError({ status, headers }: Response, now: Date): FeedError {
  const meaning = MEANINGS[status] ?? (status >= 500 ? 'its server has a problem' : 'expected 200')
  return new FeedError(`http_${status}`, `The feed answered with status ${status}: ${meaning}.`, {
    retryAfterMs: status === 429 ? retryAfterMs(headers, now.getTime()) : undefined,
  })
}
