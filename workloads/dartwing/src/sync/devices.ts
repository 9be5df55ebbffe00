// Where devices upload and pull: /dartwing/sync/ORGANIZATION. They have no token of the platform, but show one of their own.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Page } from '@millrace/admin'
import type { Millrace, Queryable } from 'millrace'
import { processDelta } from '../contracts/default.ts'
import { organizationName } from '../jobs/method.ts'
import { query } from '../query.ts'
import { upload } from './delta.ts'
import { readStamp } from './stamp.ts'

const PATH = '/dartwing/sync'
const MOST_BYTES = 1024 * 1024
const MOST_AHEAD_MS = 5 * 60_000
const MOST_ROWS = 1_000

interface Device {
  readonly device: string
  readonly login: string
}

/** Without a title: it is for programs. */
export const syncPage = (): Page => ({
  path: PATH,
  async handle(request, { millrace }) {
    const organization = organizationName.safeParse(new URL(request.url).pathname.split('/').at(-1)).data
    if (organization === undefined) return problem(404, 'Expected /dartwing/sync/ORGANIZATION.')
    const device = await deviceOf(millrace, organization, request)
    if (device === undefined)
      return problem(401, 'This needs the token of a device of the organization: Authorization: Bearer …')
    if (request.method === 'GET') return pull(millrace, organization, request)
    if (request.method === 'POST') return take(millrace, { organization, device }, request)
    return problem(405, 'Only GET and POST are known here.')
  },
})

async function deviceOf(millrace: Millrace, organization: string, request: Request): Promise<Device | undefined> {
  const [, token] = /^Bearer (\S{16,200})$/.exec(request.headers.get('authorization') ?? '') ?? []
  if (token === undefined) return undefined
  const hash = sha256(token)
  const found = await millrace.tenantDb(organization, (tx) =>
    query<Device & { hash: string }>(
      tx,
      'select device, login, token_sha256 as hash from dartwing.sync_device where token_sha256 = $1',
      [hash],
    ),
  )
  return found.find((each) => timingSafeEqual(Buffer.from(each.hash), Buffer.from(hash)))
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Row and job in one transaction: an upload that was answered is not lost. */
async function take(
  millrace: Millrace,
  { organization, device }: { organization: string; device: Device },
  request: Request,
): Promise<Response> {
  const body = await request.arrayBuffer()
  if (body.byteLength > MOST_BYTES) return problem(413, 'A delta has at most 1 MB. Send the changes in several.')
  const parsed = upload.safeParse(jsonOf(new TextDecoder().decode(body)))
  if (!parsed.success)
    return problem(422, `${parsed.error.issues[0]?.path.join('.') || 'The body'}: ${parsed.error.issues[0]?.message}`)
  const { delta, changes } = parsed.data
  return millrace.tenantDb(
    organization,
    async (tx) => {
      const [clock] = await query<{ now: Date }>(tx, 'select clock_timestamp() as now')
      const nowMs = new Date(clock?.now ?? 0).getTime()
      const ahead = changes.find(({ stamp }) => (readStamp(stamp)?.ms ?? 0) > nowMs + MOST_AHEAD_MS)
      if (ahead !== undefined)
        return problem(
          422,
          `The clock of the device is more than 5 minutes ahead: ${ahead.stamp}. It is ${new Date(nowMs).toISOString()} here.`,
        )
      await tx.query(
        `insert into dartwing.sync_delta (organization, device, delta, changes)
         values ($1, $2, $3, $4)
         on conflict do nothing`,
        [organization, device.device, delta, JSON.stringify(changes)],
      )
      const { id } = await millrace.enqueue(
        processDelta,
        { organization, device: device.device, delta },
        { tx, createdBy: device.login },
      )
      return Response.json({ delta, job: id }, { status: 202 })
    },
    { actingUser: device.login },
  )
}

/** What has changed since a number, in the order of the commits. */
async function pull(millrace: Millrace, organization: string, request: Request): Promise<Response> {
  const since = Number(new URL(request.url).searchParams.get('since') ?? 0)
  if (!Number.isSafeInteger(since) || since < 0) return problem(422, '"since" is the number of your last pull, or 0.')
  const records = await millrace.tenantDb(organization, (tx) => changedSince(tx, since))
  const last = records.at(-1)?.serverSeq ?? since
  return Response.json({ records, serverSeq: last, hasMore: records.length >= MOST_ROWS })
}

interface Pulled {
  readonly doctype: string
  readonly name: string
  readonly fields: unknown
  readonly clocks: unknown
  readonly deleted: boolean
  readonly serverSeq: number
}

/** Rows of one number stay together, so a page may be longer than the most. */
const changedSince = (tx: Queryable, since: number): Promise<Pulled[]> =>
  query(
    tx,
    `select doctype, name, fields, clocks, deleted, server_seq::float8 as "serverSeq"
     from (
       select 'Task' as doctype, name, fields, clocks, deleted, server_seq from dartwing.task where server_seq > $1
       union all
       select 'Contact', name, fields, clocks, deleted, server_seq from dartwing.contact where server_seq > $1
     ) as changed
     order by server_seq
     fetch first $2 rows with ties`,
    [since, MOST_ROWS],
  )

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const problem = (status: number, detail: string): Response => Response.json({ status, detail }, { status })
