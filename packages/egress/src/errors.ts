// Every error of this package: what happened, what was expected, what to do.
// Messages name an origin at most. Paths and queries of URLs hold secrets too often (a Slack webhook is one).

/** The guard said no before any byte was sent. Trying again cannot help. */
export type RefusalCode =
  | 'invalid_url'
  | 'invalid_request'
  | 'scheme_refused'
  | 'credentials_in_url'
  | 'port_refused'
  | 'local_name'
  | 'address_refused'
  | 'redirect_refused'

/** The network or the other side failed. Trying again may help. */
export type FailureCode = 'dns_failed' | 'connection_failed' | 'tls_failed' | 'bad_response'

/** The call took more than it was given. */
export type BudgetCode =
  | 'headers_timeout'
  | 'idle_timeout'
  | 'total_timeout'
  | 'too_many_bytes'
  | 'too_many_redirects'
  | 'json_too_deep'

export type WebhookCode =
  | 'secret_unusable'
  | 'header_missing'
  | 'header_invalid'
  | 'outside_tolerance'
  | 'bad_signature'

export type EgressErrorCode = RefusalCode | FailureCode | BudgetCode | WebhookCode | 'invalid_option'

export class EgressError extends Error {
  readonly code: EgressErrorCode

  constructor(code: EgressErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = new.target.name
    this.code = code
  }
}

/** The guard refused the URL, an address behind it, a redirect or the request itself. No byte went there. */
export class EgressRefused extends EgressError {
  declare readonly code: RefusalCode

  constructor(code: RefusalCode, message: string) {
    super(code, message)
  }
}

/** DNS, the connection, TLS or the answer failed. `cause` is the platform's error. */
export class EgressFailed extends EgressError {
  declare readonly code: FailureCode

  constructor(code: FailureCode, message: string, cause?: unknown) {
    super(code, message, cause)
  }
}

/** The call used up its time, bytes or redirects, and was stopped. */
export class EgressBudgetExceeded extends EgressError {
  declare readonly code: BudgetCode
  readonly limit: number

  constructor(code: BudgetCode, limit: number, message: string) {
    super(code, message)
    this.limit = limit
  }
}

/** A webhook does not prove who sent it. Answer 400, and store nothing. */
export class WebhookRejected extends EgressError {
  declare readonly code: WebhookCode

  constructor(code: WebhookCode, message: string) {
    super(code, message)
  }
}

/** The URL as messages may show it: scheme, host and port. */
export function shownUrl(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname === '/' && url.search === '' ? '/' : '/…'}`
}
