// Decisions about the dead jobs of a query, and forgetting archived jobs of one.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { admin, nodeListener } from '@millrace/admin'
import { defineJob, defineQueues, implement, Unrecoverable } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { saidBy } from './support/in-process.ts'
import { setup as base } from './support/setup.ts'

const queues = defineQueues({ beds: {}, desks: {} })
const nap = defineJob({ type: 'nap', queue: queues.beds, payload: z.object({}) })
const chore = defineJob({ type: 'chore', queue: queues.desks, payload: z.object({}) })

/** Two dead naps, one dead chore, one chore that was done, and a worker that does all jobs now. */
async function setup() {
  const t = await base({ jobs: [nap, chore] })
  const { millrace } = t
  let isAwake = false
  const handle = () => {
    if (!isAwake) throw new Unrecoverable('asleep')
  }
  await millrace.work({ handlers: [implement(nap, handle), implement(chore, handle)] })
  const dead: string[] = []
  for (const type of [nap, nap, chore]) {
    const { id } = await millrace.enqueue(type, {})
    await millrace.result(id)
    dead.push(id)
  }
  isAwake = true
  await millrace.result((await millrace.enqueue(chore, {})).id)
  const statuses = async () => (await millrace.deadLetters.list()).reverse().map(({ status }) => status)
  return { ...t, dead, statuses }
}

test('dead jobs of a query are redriven after a preview that counts no others', async () => {
  await using t = await setup()
  const unasked = await t.run('dead', 'redrive', '--where', 'queue:beds,desks')
  expect(unasked.out).toMatch(/^QUEUE +TYPE +WILL CHANGE\nbeds +nap +2\ndesks +chore +1\n\n.*It cannot be taken back/s)
  expect(unasked).toMatchObject({ code: 1, err: expect.stringContaining('Nothing was changed. Pass --yes') })
  expect(await t.statuses()).toEqual(['pending', 'pending', 'pending'])
  const done = await t.run('redrive', '--where', 'type:nap', '--yes', '--by', 'ann')
  expect(done).toMatchObject({ code: 0, out: expect.stringContaining('2 jobs changed, 0 done already, 0 refused.') })
  expect(await t.statuses()).toEqual(['retried', 'retried', 'pending'])
  expect(await t.millrace.audit.list({ action: 'bulk.start' })).toMatchObject([{ by: 'ann' }])
})

test('letters of a query are resolved and ignored with a note, and a mistake is pointed at', async () => {
  await using t = await setup()
  const resolved = await t.run('dead', 'resolve', '--where', 'type:chore', '--note', 'by hand', '--yes')
  expect(resolved.out).toContain('1 job changed')
  const ignored = await t.run('dead', 'ignore', '--where', 'status:dead queue:beds', '--yes', '--json')
  expect(JSON.parse(ignored.out)).toMatchObject({ operation: { status: 'completed', changed: 2 } })
  expect(await t.statuses()).toEqual(['ignored', 'ignored', 'resolved'])
  const [letter] = await t.millrace.deadLetters.list({ status: 'resolved' })
  expect((await t.millrace.deadLetters.get(letter?.id ?? ''))?.notes).toContain('by hand')
  expect((await t.run('dead', 'ignore', '--where', 'typ:nap')).err).toContain('\n  typ:nap status:dead\n  ^^^\n')
})

test('archived jobs of a query are forgotten', async () => {
  await using t = await setup()
  const { code, out } = await t.run('prune', '--where', 'type:chore status:completed', '--yes')
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('1 job changed') })
  expect(await t.millrace.jobs({ type: 'chore' })).toMatchObject([{ status: 'dead' }])
})

test.each([
  [['dead', 'redrive', '1', '--where', 'type:nap'], /Name the letters by their ids, or by --where/],
  [['dead', 'redrive', '--where', 'a', '--fingerprint', 'b'], /--fingerprint does not go .*as fp:/],
  [['dead', 'redrive', '--where', 'a', '--payload', '{}'], /--payload is for a single letter/],
  [['dead', 'resolve'], /Name the letters/],
  [['prune'], /by --older-than, or by --where/],
  [['prune', '--where', 'a', '--older-than', '1d'], /One of them/],
  [['prune', '--where', 'a', '--type', 'nap'], /say them in the query/],
])('%j is refused', async (args, message) => {
  // Nothing listens there: they are refused before the database is asked.
  const env = { DATABASE_URL: 'postgres://127.0.0.1:1/none' }
  expect(await saidBy(args, env)).toMatchObject({ code: 1, err: expect.stringMatching(message) })
})

test('an operator without the database does the same through the admin API', async () => {
  await using t = await setup()
  const api = admin(t.millrace)
  const server = createServer(nodeListener(api)).listen(0, '127.0.0.1')
  const { secret } = await t.millrace.tokens.create({ name: 'ann', role: 'operator', by: 'test' })
  await expect.poll(() => server.listening).toBe(true)
  const env = {
    MILLRACE_ADMIN_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    MILLRACE_ADMIN_TOKEN: secret,
  }
  try {
    const done = await saidBy(['dead', 'redrive', '--where', 'type:nap', '--yes'], env)
    expect(done).toMatchObject({ code: 0, err: '', out: expect.stringContaining('2 jobs changed') })
    expect((await saidBy(['dead', 'resolve', '--where', 'typ:nap', '--yes'], env)).err).toContain('\n  ^^^\n')
    expect(await t.millrace.audit.list({ action: 'bulk.start' })).toMatchObject([{ by: 'ann' }])
  } finally {
    await api.close()
    server.closeAllConnections()
    server.close()
  }
})
