// Errors as application/problem+json: what happened, our code for it, and what to do.
import { InvalidQuery, MillraceError, type MillraceErrorCode } from 'millrace'
import { z } from 'zod'

/** What the server refuses itself, with the status that says so. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly code: string
  readonly facts: Readonly<Record<string, unknown>>

  constructor(status: number, code: string, detail: string, facts: Readonly<Record<string, unknown>> = {}) {
    super(detail)
    this.status = status
    this.code = code
    this.facts = facts
  }
}

export const notFound = (what: string): Refusal =>
  new Refusal(404, 'not_found', `There is no ${what}, or you may not see it.`)

/** A change that came too late, or does not fit the state: nothing was changed. */
export const conflict = (code: string, detail: string, facts: Readonly<Record<string, unknown>> = {}): Refusal =>
  new Refusal(409, code, detail, facts)

const STATUS = {
  invalid_definition: 400,
  invalid_payload: 400,
  secret_in_payload: 400,
  tenant_required: 400,
  tenant_mismatch: 400,
  invalid_query: 400,
  unknown_job_type: 404,
  job_not_found: 404,
  bulk_not_found: 404,
  worker_not_found: 404,
  workflow_not_found: 404,
  unknown_budget: 404,
  unknown_schedule: 404,
  unknown_service: 404,
  unknown_signal: 404,
  unknown_workflow: 404,
  tenant_suspended: 409,
  history_refused: 409,
  payload_not_upgraded: 409,
  newer_payload: 409,
  undecryptable: 409,
  budget_exceeded: 409,
  contract_required: 422,
  tenant_limit_reached: 429,
  tenant_busy: 503,
  key_busy: 503,
  once_busy: 503,
  enqueue_unknown: 503,
  breaker_open: 503,
  budget_source_failed: 503,
  encryption_key_missing: 503,
  database_unavailable: 503,
  database_conflict: 503,
  database_timeout: 503,
  connection_lost: 503,
  permission_denied: 503,
  schema_missing: 503,
  schema_too_old: 503,
  schema_too_new: 503,
  unsupported_database: 503,
  client_closed: 503,
  worker_stopping: 503,
  result_timeout: 504,
  workflow_timeout: 504,
  timed_out: 504,
  search_timeout: 504,
  database_refused: 500,
  invalid_result: 500,
  isolated_crash: 500,
  lease_lost: 500,
  migration_failed: 500,
  not_a_transaction: 500,
  result_mismatch: 500,
  seal_not_opened: 500,
  tenant_isolation_violation: 500,
  transaction_failed: 500,
} as const satisfies Record<MillraceErrorCode, number>

const TITLES: Readonly<Record<number, string>> = {
  400: 'The request is not valid',
  401: 'A token is needed',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'It cannot be done in this state',
  413: 'The request is too large',
  415: 'JSON is needed',
  422: 'It cannot be done here',
  429: 'Too many requests',
  500: 'The server failed',
  503: 'Not available now',
  504: 'It took too long',
}

export interface Problem {
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly facts: Readonly<Record<string, unknown>>
}

/** What a caller is told of an error. Of one that nobody foresaw, only that it happened: its text may hold anything. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Refusal) return { ...pick(error), facts: error.facts }
  if (error instanceof z.ZodError) {
    const issues = error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
    const list = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ')
    return { status: 400, code: 'invalid_request', detail: `The request is not valid: ${list}.`, facts: { issues } }
  }
  // Texts about the database name its address, its user and parts of statements: they belong into the log.
  if (error instanceof MillraceError && isOfDatabase(error)) {
    const detail = 'The database cannot be used right now. The log of the server says why, under this request id.'
    return { status: STATUS[error.code], code: error.code, detail, facts: {} }
  }
  if (error instanceof MillraceError) {
    return { status: STATUS[error.code], code: error.code, detail: error.message, facts: factsOf(error) }
  }
  const detail = 'The server failed in a way that nobody foresaw. Its log has the error under this request id.'
  return { status: 500, code: 'internal_error', detail, facts: {} }
}

const isOfDatabase = ({ code }: MillraceError): boolean =>
  STATUS[code] === 503
    ? /^(database|connection|permission|schema|unsupported)_/.test(code)
    : code === 'database_refused'

function factsOf(error: MillraceError): Problem['facts'] {
  if (error instanceof InvalidQuery) {
    const { problem, start, end, suggestion } = error
    return { problem, start, end, suggestion }
  }
  const { issues } = error as { issues?: unknown }
  return issues === undefined ? {} : { issues }
}

const pick = ({ status, code, message }: Refusal) => ({ status, code, detail: message })

export function problemResponse(problem: Problem, requestId: string): Response {
  const { status, code, detail, facts } = problem
  const body = { type: `urn:millrace:error:${code}`, title: TITLES[status] ?? 'Error', status, code, detail, requestId }
  return new Response(`${JSON.stringify({ ...facts, ...body }, null, 2)}\n`, {
    status,
    headers: {
      'content-type': 'application/problem+json; charset=utf-8',
      ...(status === 401 && { 'www-authenticate': 'Bearer realm="millrace"' }),
      ...((status === 429 || status === 503) && { 'retry-after': String(facts.retryAfterSeconds ?? 1) }),
    },
  })
}
