// The five older queue tables, and how a row of each becomes a job. The contract of its type checks what is made here.
import type { JobContract } from 'millrace'
import { analysis, elevation, email, webhook } from '../contracts.ts'

export interface OlderQueue {
  readonly table: string
  /** What names a row. */
  readonly key: 'lipas_id' | 'id'
  readonly since: 'added_at' | 'created_at'
  /** False: every row waits. */
  readonly hasStatus: boolean
  /** Undefined: the queue is retired, and its rows are only counted. */
  readonly job: OlderJob | undefined
}

export interface OlderJob {
  readonly contract: JobContract
  /** Of a row as the table has it. Throws Unfit. */
  payload(row: Readonly<Record<string, unknown>>): object
}

/** A row that no job can be made of, and why. */
export class Unfit extends Error {
  override readonly name = 'Unfit'
}

const place = ({ lipas_id: id }: Readonly<Record<string, unknown>>): object => ({ 'lipas-id': id })

export const OLDER_QUEUES: readonly OlderQueue[] = [
  {
    ...{ table: 'analysis_queue', key: 'lipas_id', since: 'added_at', hasStatus: true },
    job: { contract: analysis, payload: place },
  },
  {
    ...{ table: 'elevation_queue', key: 'lipas_id', since: 'added_at', hasStatus: true },
    job: { contract: elevation, payload: place },
  },
  {
    ...{ table: 'email_out_queue', key: 'id', since: 'created_at', hasStatus: false },
    job: { contract: email, payload: ({ message }) => mailOf(message) },
  },
  {
    ...{ table: 'webhook_queue', key: 'id', since: 'added_at', hasStatus: true },
    job: { contract: webhook, payload: ({ batch_data: batch }) => objectIn(batch, 'batch_data') },
  },
  { ...{ table: 'integration_out_queue', key: 'lipas_id', since: 'added_at', hasStatus: false }, job: undefined },
]

/** A reminder as the older system wrote it, `{ email, link, body }`, or a mail that says itself what it is. */
function mailOf(given: unknown): object {
  const message = objectIn(given, 'message')
  if (!('email' in message)) return message
  const { email: to, link, body, subject } = message
  const text = [textOf(body), link === undefined || link === null ? '' : `Look at the entry: ${link}`]
  return {
    to,
    type: 'reminder',
    subject: typeof subject === 'string' && subject !== '' ? subject : 'A reminder from LIPAS',
    body: text.filter((part) => part !== '').join('\n\n'),
  }
}

/** A body is a text, or an object that has it as `message`. */
function textOf(body: unknown): string {
  if (body === undefined || body === null) return ''
  if (typeof body === 'string') return body
  const { message } = body as { message?: unknown }
  if (typeof message === 'string') return message
  throw new Unfit('message.body: expected a text, or an object with a text in `message`')
}

function objectIn(value: unknown, column: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new Unfit(
    `${column}: expected an object, found ${value === null || value === undefined ? 'nothing' : 'something else'}`,
  )
}
