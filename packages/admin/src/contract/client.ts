// A typed client of the admin API, for the dashboard, the command line and programs of your own.
import { type AnswerOf, type Endpoint, type InputOf, parametersOf } from './endpoint.ts'
import { type Contract, contract } from './operations.ts'

export interface ClientOptions {
  /** Where the server is: 'https://jobs.example.com', with the base path under which it is mounted. */
  readonly baseUrl: string
  /** Without one the session of the browser counts. */
  readonly token?: string
  readonly fetch?: typeof fetch
  /** Ends requests that are under way. */
  readonly signal?: AbortSignal
}

type Call<E extends Endpoint> =
  Record<string, never> extends InputOf<E>
    ? (input?: InputOf<E>) => Promise<AnswerOf<E>>
    : (input: InputOf<E>) => Promise<AnswerOf<E>>

/** The operations by topic and name: `client.jobs.list({ status: 'dead' })`. */
export type AdminClient = {
  readonly [Topic in keyof Contract]: {
    readonly [Name in keyof Contract[Topic]]: Contract[Topic][Name] extends Endpoint
      ? Call<Contract[Topic][Name]>
      : never
  }
}

/** The server refused or failed. `message` says what happened and what to do. */
export class AdminError extends Error {
  override readonly name = 'AdminError'
  readonly status: number
  /** As the engine calls it, such as 'job_not_found'. */
  readonly code: string
  readonly requestId: string | null
  /** The whole answer: application/problem+json. */
  readonly problem: Readonly<Record<string, unknown>>

  constructor(status: number, problem: Readonly<Record<string, unknown>>) {
    super(String(problem.detail ?? problem.title ?? `The server answered ${status}.`))
    this.status = status
    this.code = String(problem.code ?? 'unknown')
    this.requestId = typeof problem.requestId === 'string' ? problem.requestId : null
    this.problem = problem
  }
}

export function createAdminClient(options: ClientOptions): AdminClient {
  const topics = Object.entries(contract).map(([topic, endpoints]) => [
    topic,
    Object.fromEntries(
      Object.entries(endpoints as Record<string, Endpoint>).map(([name, endpoint]) => [
        name,
        (input = {}) => call(options, endpoint, input as never),
      ]),
    ),
  ])
  return Object.fromEntries(topics) as AdminClient
}

/** Calls one operation, also one that a workload has added. Throws AdminError. */
export async function call<E extends Endpoint>(
  options: ClientOptions,
  endpoint: E,
  input: InputOf<E>,
): Promise<AnswerOf<E>> {
  const { token, signal } = options
  const { url, body } = requestOf(options.baseUrl, endpoint, input as Record<string, unknown>)
  const response = await (options.fetch ?? fetch)(url, {
    method: endpoint.method,
    headers: {
      accept: endpoint.media ?? 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body }),
    ...(signal && { signal }),
  })
  if (response.ok && endpoint.media === 'text/csv') return (await response.text()) as AnswerOf<E>
  const answer: unknown = await response.json().catch(() => undefined)
  if (response.ok) return answer as AnswerOf<E>
  throw new AdminError(response.status, isRecord(answer) ? answer : {})
}

function requestOf(baseUrl: string, { method, path }: Endpoint, input: Record<string, unknown>) {
  const inPath = parametersOf(path)
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(input[name])))
  const rest = Object.entries(input).filter(([name, value]) => !inPath.includes(name) && value !== undefined)
  const url = `${baseUrl.replace(/\/$/, '')}${filled}`
  if (method !== 'GET') return { url, body: JSON.stringify(Object.fromEntries(rest)) }
  const query = new URLSearchParams(rest.map(([name, value]): [string, string] => [name, String(value)]))
  return { url: query.size === 0 ? url : `${url}?${query}`, body: undefined }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
