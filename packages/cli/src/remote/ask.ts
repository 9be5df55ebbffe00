// Calls of a remote admin API, and how their failures are told.
import { AdminError, call, type Endpoint, type InputOf, withDates } from '@millrace/admin/contract'
import { Refused } from '../failure.ts'
import { oneLine } from '../print.ts'
import { ADMIN_TOKEN_VARIABLE } from './target.ts'

/** The answer to an operation, with Dates for times. */
export type Ask = <E extends Endpoint>(endpoint: E, input: InputOf<E>) => Promise<unknown>

/** The server refused. */
export class ApiRefusal extends Refused {
  readonly code: string
  readonly problem: AdminError['problem']

  constructor(message: string, { code, problem }: AdminError) {
    super(message)
    this.code = code
    this.problem = problem
  }
}

/** For things that may not be there. */
export function undefinedIfMissing(error: unknown): undefined {
  const codes = ['not_found', 'job_not_found', 'workflow_not_found', 'bulk_not_found']
  if (error instanceof ApiRefusal && codes.includes(error.code)) return undefined
  throw error
}

export function connect(url: string): Ask {
  const baseUrl = baseUrlOf(url)
  const token = tokenOf(process.env[ADMIN_TOKEN_VARIABLE])
  const options = { baseUrl, fetch: fetchFrom(baseUrl), ...(token !== undefined && { token }) }
  return async (endpoint, input) => {
    const answer = await call(options, endpoint, input).catch((error: unknown) => {
      throw error instanceof AdminError ? refusalOf(error, baseUrl, token !== undefined) : error
    })
    if (!isAnswerOf(endpoint, answer))
      throw notAnApi(baseUrl, `its answer to ${endpoint.method} ${endpoint.path} is not what this version expects`)
    return withDates(endpoint.output, answer)
  }
}

/** The address of the dashboard or of the API itself is accepted, too. */
function baseUrlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Refused(`The admin URL is "${oneLine(text, 200)}". Expected an address such as https://jobs.example.com.`)
  if (url.username || url.password)
    throw new Refused(`The admin URL holds a password. Leave it out, and put a token into ${ADMIN_TOKEN_VARIABLE}.`)
  return `${url.origin}${url.pathname.replace(/(\/admin(\/api)?)?\/*$/, '')}`
}

/** A header cannot carry every text, and the error of `fetch` would show the token. */
function tokenOf(text = ''): string | undefined {
  const token = text.trim()
  if (!/^[\x21-\x7e]*$/.test(token))
    throw new Refused(
      `${ADMIN_TOKEN_VARIABLE} holds characters that no token has, such as spaces. Copy the token again.`,
    )
  return token || undefined
}

/** Lets only JSON through. A redirect is not followed: the token is for this server alone. */
function fetchFrom(baseUrl: string): typeof fetch {
  return async (url, init) => {
    const response = await fetch(url, { ...init, redirect: 'manual' }).catch((error: unknown) => {
      throw unreachable(baseUrl, error)
    })
    const { status, headers } = response
    const location = headers.get('location')
    if (status >= 300 && status < 400 && location !== null)
      throw notAnApi(baseUrl, `it redirects to ${oneLine(location, 200)}`)
    const type = headers.get('content-type')?.split(';')[0] ?? 'no content type'
    if (!/json$/i.test(type)) throw notAnApi(baseUrl, `it answered ${status} with ${oneLine(type, 60)} instead of JSON`)
    return response
  }
}

function unreachable(baseUrl: string, error: unknown): Refused {
  const { code, message } = ((error as Error).cause ?? error) as NodeJS.ErrnoException
  if (code === 'ECONNREFUSED')
    return new Refused(`Nothing listens at ${baseUrl}. Start \`millrace admin\` there, or correct the admin URL.`)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new Refused(`The host of ${baseUrl} is not known. Correct the admin URL, or check the network.`)
  return new Refused(`${baseUrl} cannot be reached: ${message || code}. Check the admin URL and the network.`)
}

const notAnApi = (baseUrl: string, why: string): Refused =>
  new Refused(
    `There is no admin API at ${baseUrl}: ${why}. Expected the address that \`millrace admin\` or \`millrace dev\` prints, or where your server mounts it.`,
  )

function refusalOf(error: AdminError, baseUrl: string, hasToken: boolean): Refused {
  const { status, code, message, requestId } = error
  if (status === 401 && code !== 'unknown') {
    const why = hasToken
      ? `does not accept the token in ${ADMIN_TOKEN_VARIABLE}: it is unknown, has expired or was revoked`
      : 'needs a token'
    const what = `Put one into ${ADMIN_TOKEN_VARIABLE}; where the database is, \`millrace tokens create NAME\` makes one.`
    return new ApiRefusal(`${baseUrl} ${why}. ${what}`, error)
  }
  if (code === 'unknown') return notAnApi(baseUrl, `it answered ${status}, and not as an admin API does`)
  if (code === 'no_such_path')
    return new ApiRefusal(
      `${baseUrl} does not have this operation. Its version may be older than this command's.`,
      error,
    )
  const id = status >= 500 && requestId !== null ? ` (request ${requestId})` : ''
  return new ApiRefusal(`${message}${id}`, error)
}

function isAnswerOf({ output }: Endpoint, answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null) return false
  const { shape = {} } = output as { shape?: Readonly<Record<string, Endpoint['output']>> }
  return Object.entries(shape).every(([key, schema]) => key in answer || schema.isOptional())
}
