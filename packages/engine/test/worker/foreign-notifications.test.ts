// NOTIFY needs no privilege: any role of the database can say anything on our channels.
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { defineJob, defineQueues, implement, type Logger } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { EndedListener } from '#src/client/ended-listener'
import { decodeIds, decodeMessage, encodeMessage } from '#src/store/notifications'
import { attentive, eventually, jobEvent, type Setup, setup, signal, silent } from '../support/setup.ts'

const { mail } = defineQueues({ mail: { pollInterval: '100ms' } })
const letter = defineJob({ type: 'letter', queue: mail, payload: z.string() })

const UNREADABLE = [
  ...['', 'x', '?:', 'k:oops', 'k:', 'k:null', 'k:[]', 'k:["x","mail",null,"a"]', 'k:["order","mail",{},1]'],
  ...[
    'k:{"kind":"order"}',
    'k:["order","mail",null]',
    'k:["order","mail",null,"a","b"]',
    'w:',
    'r:',
    'e:',
    'o:',
    'o:nobody',
  ],
  ...['o::mail', 'o:nobody:', 'a:', 'a:1,x', 'a:1,', 'f:x', 'f:-1', 'f:1e3', 'f:99999999999999999999', 'f:constructor'],
]
/** Long messages: a few thousand of them are a flood on any machine. */
const FLOOD = `select pg_notify($1, repeat('1', 7900) || n) from generate_series(1, 4000) as n`

/** A worker that listens, with a job under way. */
async function running(t: Setup) {
  const started = signal()
  const release = signal()
  const handler = implement(letter, async (what, ctx) => {
    if (what === 'quick') return
    started.resolve()
    ctx.signal.addEventListener('abort', () => release.resolve())
    await release.promise
    ctx.signal.throwIfAborted()
  })
  const warnings: string[] = []
  const logger: Logger = { ...silent, warn: (_: unknown, text?: string) => void warnings.push(text ?? '') }
  const millrace = t.client([letter], { logger })
  const lost: string[] = []
  millrace.events.on('lease_lost', ({ why }) => lost.push(why))
  const isListening = millrace.events.next('listen_trusted', ({ isTrusted }) => isTrusted)
  await millrace.work({ handlers: [handler], lease: attentive })
  const { id } = await millrace.enqueue(letter, 'long')
  await started.promise
  await isListening
  return { millrace, id, lost, warnings, release }
}

/** As a role that may do nothing else. */
async function sayAsStranger(t: Setup, sql: string, values: unknown[]): Promise<void> {
  const role = `stranger_${randomUUID().replaceAll('-', '')}`
  const client = await t.pool.connect()
  try {
    await client.query(`create role ${role}`)
    await client.query(`set role ${role}`)
    await client.query(sql, values)
  } finally {
    await client.query('reset role')
    await client.query(`drop role ${role}`)
    client.release()
  }
}

test('a message that no worker can read is counted and ignored, and no run is aborted', async () => {
  await using t = await setup()
  const { millrace, id, lost, warnings, release } = await running(t)
  let ignored = 0
  const allIgnored = signal()
  millrace.events.on('notifications_ignored', ({ count, total, why }) => {
    ignored += count
    if (total === ignored && total === UNREADABLE.length && why === 'unreadable') allIgnored.resolve()
  })
  const say = `select pg_notify('millrace_pulse', message) from unnest($1::text[]) as message`
  await sayAsStranger(t, say, [UNREADABLE])
  await Promise.race([allIgnored.promise, millrace.events.next('lease_lost')])
  expect(lost).toEqual([])
  release.resolve()
  await jobEvent(millrace, 'job_completed', id)
  expect(warnings.filter((text) => text.includes('ignored'))).toHaveLength(1)
})

test('a flood of messages ends listening for a while, but neither the lease nor the work', async () => {
  await using t = await setup()
  const { millrace, id, lost, release } = await running(t)
  const flooded = millrace.events.next('notifications_ignored', ({ why }) => why === 'flood')
  const polls = millrace.events.next('listen_trusted', ({ isTrusted }) => !isTrusted)
  await sayAsStranger(t, FLOOD, ['millrace_pulse'])
  await Promise.all([flooded, polls])
  const quick = await millrace.enqueue(letter, 'quick')
  await jobEvent(millrace, 'job_completed', quick.id)
  release.resolve()
  await jobEvent(millrace, 'job_completed', id)
  expect(lost).toEqual([])
})

test('a client that awaits results ignores what is no list of ids, and hears no flood', async () => {
  await using t = await setup()
  const heard: (readonly string[])[] = []
  const listening = signal()
  const first = signal()
  const listener = new EndedListener({
    connection: { connectionString: t.url },
    schema: 'millrace',
    onEnded: (ids) => {
      heard.push(ids)
      first.resolve()
    },
    onListening: listening.resolve,
  })
  listener.open()
  await listening.promise
  const say = `select pg_notify('millrace_ended', message) from unnest($1::text[]) as message`
  await sayAsStranger(t, say, [['', ',', 'x', 'constructor', '1,,2', '{}', '99999999999999999999', '1,2']])
  await first.promise
  expect(heard).toEqual([['1', '2']])
  const ear = `select pid from pg_stat_activity where datname = current_database() and query like 'listen%'`
  expect(await t.sql(ear)).toHaveLength(1)
  await sayAsStranger(t, FLOOD, ['millrace_ended'])
  await eventually(async () => (await t.sql(ear)).length === 0)
  await listener.close()
})

test('every text can be decoded, and every message is decoded as it was encoded', () => {
  const text = fc.oneof(fc.string(), fc.json({ maxDepth: 2 }))
  const payload = fc.tuple(fc.constantFrom('', 'w:', 'o:', 'r:', 'g:', 's:', 'e:', 'a:', 'f:', 'k:', '?'), text)
  fc.assert(
    fc.property(payload, ([kind, rest]) => {
      const message = decodeMessage(kind + rest)
      if (message !== undefined) expect(decodeMessage(encodeMessage(message))).toEqual(message)
      decodeIds(rest)
    }),
    { numRuns: 500 },
  )
  for (const each of UNREADABLE) expect(decodeMessage(each)).toBeUndefined()
})
