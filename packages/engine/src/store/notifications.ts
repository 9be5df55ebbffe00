// What processes tell each other through NOTIFY. A hint, never a condition: polling finds the same work later.
import { createHash } from 'node:crypto'
import { textArray } from './arrays.ts'
import type { Session } from './db.ts'
import { isJobId } from './job-id.ts'
import type { WorkKey } from './keyed-work.ts'
import { MAX_NAME_BYTES } from './schema-name.ts'

/** One channel per schema, so that two installations in one database do not wake each other. */
export const channelOf = (schema: string): string => channelNamed(schema, 'pulse')

/** Where clients that await results hear of them: a channel of its own, so that they need not hear every wake-up. */
export const endedChannelOf = (schema: string): string => channelNamed(schema, 'ended')

/** Postgres refuses longer names in pg_notify, and silently cuts them off in LISTEN. */
function channelNamed(schema: string, purpose: string): string {
  const name = `${schema}_${purpose}`
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name
  return `millrace_${createHash('sha256').update(schema).digest('hex').slice(0, 32)}_${purpose}`
}

/** Postgres takes 8,000 bytes per message, an id has at most 19 digits. */
const IDS_PER_MESSAGE = 300

export type Message =
  /** `from`: who has told its own workers already. */
  | { kind: 'work'; queue: string; from?: string | undefined }
  | { kind: 'reconcile'; workerId: string }
  /** Tenants, pauses or limits were changed. */
  | { kind: 'rules' }
  /** Schedules were changed. */
  | { kind: 'schedules' }
  | { kind: 'echo'; token: string }
  /** Somebody awaits the end of these jobs. */
  | { kind: 'await'; ids: readonly string[] }
  /** Jobs of this key, or deferred ones of this tenant, wait for admission. */
  | { kind: 'key'; key: WorkKey }
  /** Jobs of these workflows have ended, and whoever ended them cannot carry them on. */
  | { kind: 'workflows'; ids: readonly string[] }

export function encodeMessage(message: Message): string {
  switch (message.kind) {
    case 'work':
      return message.from === undefined ? `w:${message.queue}` : `o:${message.from}:${message.queue}`
    case 'reconcile':
      return `r:${message.workerId}`
    case 'rules':
      return 'g:'
    case 'schedules':
      return 's:'
    case 'echo':
      return `e:${message.token}`
    case 'await':
      return `a:${encodeIds(message.ids)}`
    case 'workflows':
      return `f:${encodeIds(message.ids)}`
    case 'key': {
      const { kind, queue, tenant, key } = message.key
      return `k:${JSON.stringify([kind, queue, tenant, key])}`
    }
  }
}

/** Undefined: unreadable. Never throws, because NOTIFY needs no privilege and any role may send any text. */
export function decodeMessage(payload: string): Message | undefined {
  if (payload.startsWith('g:')) return { kind: 'rules' }
  if (payload.startsWith('s:')) return { kind: 'schedules' }
  const rest = payload.slice(2)
  if (rest === '') return undefined
  if (payload.startsWith('w:')) return { kind: 'work', queue: rest }
  if (payload.startsWith('o:')) return decodeOwnWork(rest)
  if (payload.startsWith('r:')) return { kind: 'reconcile', workerId: rest }
  if (payload.startsWith('e:')) return { kind: 'echo', token: rest }
  if (payload.startsWith('a:')) return decodeList('await', rest)
  if (payload.startsWith('f:')) return decodeList('workflows', rest)
  if (payload.startsWith('k:')) return decodeKey(rest)
  return undefined
}

function decodeOwnWork(text: string): Message | undefined {
  const end = text.indexOf(':')
  if (end < 1 || end === text.length - 1) return undefined
  return { kind: 'work', queue: text.slice(end + 1), from: text.slice(0, end) }
}

function decodeList(kind: 'await' | 'workflows', text: string): Message | undefined {
  const ids = decodeIds(text)
  return ids === undefined ? undefined : { kind, ids }
}

function decodeKey(text: string): Message | undefined {
  const [kind, queue, tenant, key, ...more] = jsonList(text)
  if (kind !== 'order' && kind !== 'limit' && kind !== 'tenant') return undefined
  if (typeof queue !== 'string' || typeof key !== 'string') return undefined
  if ((tenant !== null && typeof tenant !== 'string') || more.length > 0) return undefined
  return { kind: 'key', key: { kind, queue, tenant, key } }
}

/** Empty for all that is no list. */
function jsonList(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

export async function notify(session: Session, schema: string, messages: readonly Message[]): Promise<void> {
  await session.run('notify', [channelOf(schema), textArray(messages.map(encodeMessage))])
}

/** False: the server's queue is so full that nothing is sent, because a session that listens reads nothing. */
export async function notifyRoom(session: Session): Promise<boolean> {
  const [row] = await session.run<{ hasRoom: boolean }>('notifyRoom', [])
  return row?.hasRoom === true
}

/** Tells workers that somebody awaits the end of these jobs. */
export async function notifyAwaited(session: Session, schema: string, ids: readonly string[]): Promise<void> {
  await notify(
    session,
    schema,
    chunks(ids).map((chunk) => ({ kind: 'await', ids: chunk })),
  )
}

/** Asks workers that know these workflows to carry them on. */
export async function notifyWorkflows(session: Session, schema: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await notify(
    session,
    schema,
    chunks(ids).map((chunk) => ({ kind: 'workflows', ids: chunk })),
  )
}

/** Tells whoever awaits them that these jobs have ended. */
export async function notifyEnded(session: Session, schema: string, ids: readonly string[]): Promise<void> {
  await session.run('notify', [endedChannelOf(schema), textArray(chunks(ids).map(encodeIds))])
}

/** Undefined: unreadable. Postgres would refuse a statement with what is no id. */
export function decodeIds(text: string): string[] | undefined {
  const ids = text.split(',')
  return ids.every(isJobId) ? ids : undefined
}

const encodeIds = (ids: readonly string[]): string => ids.join(',')

function chunks(ids: readonly string[]): string[][] {
  const result: string[][] = []
  for (let from = 0; from < ids.length; from += IDS_PER_MESSAGE) result.push(ids.slice(from, from + IDS_PER_MESSAGE))
  return result
}
