import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { saidBy } from './support/in-process.ts'
import { setup as base } from './support/setup.ts'

const queues = defineQueues({ default: {} })
const care = defineJob({
  type: 'care',
  queue: queues.default,
  payload: z.object({ name: z.string(), room: z.number() }),
  sensitive: ['name'],
})
const key = (letter: string): string => Buffer.alloc(32, letter).toString('base64')

async function setup() {
  const t = await base({ jobs: [care], encryption: { keys: [{ id: 'a', key: key('a') }] } })
  return { ...t, run: (args: string[], env: Record<string, string> = {}) => saidBy(args, { ...t.env, ...env }) }
}

test('keys status and keys rotate tell which key is needed, and no key is printed', async () => {
  await using t = await setup()
  const { id } = await t.millrace.enqueue(care, { name: 'Canary', room: 1 })
  const env = { MILLRACE_ENCRYPTION_KEYS: `b:${key('b')},a:${key('a')}` }
  const status = await t.run(['encryption-keys', 'status'], env)
  expect(status.out).toMatch(/^b +encrypts +0 +0 +0 +0 +0 +yes$/m)
  expect(status.out).toMatch(/^a +decrypts +1 +0 +0 +0 +0 +yes: rotate first$/m)
  const rotated = await t.run(['encryption-keys', 'rotate', '--by', 'ann'], env)
  expect(rotated).toMatchObject({ code: 0, err: '' })
  expect(rotated.out).toMatch(/^Encrypted 1 live jobs, 0 dead letters and 0 jobs of workflows under key "b"\.$/m)
  expect(rotated.out).toMatch(/^a +decrypts +0 +0 +0 +0 +0 +no: it can be removed$/m)
  const json = JSON.parse((await t.run(['encryption-keys', 'status', '--json'], env)).out)
  expect(json).toMatchObject([
    { id: 'b', live: 1 },
    { id: 'a', isNeeded: false },
  ])
  const shown = await t.run(['job', id])
  expect(shown.out).toContain('[encrypted]')
  expect([status, rotated, shown].map(({ out }) => out).join()).not.toMatch(/Canary|YWFh|YmJi/)
})

test('keys rotate ends with code 2 if a key is missing, and with code 1 without keys', async () => {
  await using t = await setup()
  await t.millrace.enqueue(care, { name: 'Canary', room: 1 })
  const missing = await t.run(['encryption-keys', 'rotate'], { MILLRACE_ENCRYPTION_KEYS: `b:${key('b')}` })
  expect(missing).toMatchObject({ code: 2, out: expect.stringMatching(/cannot be decrypted without a: add the key/) })
  expect(await t.run(['encryption-keys', 'rotate'])).toMatchObject({
    code: 1,
    err: expect.stringMatching(/MILLRACE_ENCRYPTION_KEYS/),
  })
  const odd = await t.run(['encryption-keys', 'status'], { MILLRACE_ENCRYPTION_KEYS: key('b') })
  expect(odd).toMatchObject({
    code: 1,
    err: expect.stringMatching(/Entry 1 of MILLRACE_ENCRYPTION_KEYS is not usable/),
  })
})

test('erase counts, and erases only with --yes and a reason', async () => {
  await using t = await setup()
  const { id } = await t.millrace.enqueue(care, { name: 'Canary', room: 1 }, { tenant: 'acme' })
  const look = await t.run(['erase', '--tenant', 'acme'])
  expect(look.out).toMatch(/^Would cancel 1 waiting jobs,.*\nNothing was changed\. Pass --yes to erase\.\n$/)
  expect(await t.millrace.job(id)).toMatchObject({ status: 'pending' })
  expect(await t.run(['erase', '--tenant', 'acme', '--yes'])).toMatchObject({
    code: 1,
    err: expect.stringMatching(/--reason/),
  })
  const done = await t.run(['erase', '--type', 'care', '--where', '{"room":1}', '--reason', 'asked', '--yes', '--json'])
  expect(JSON.parse(done.out)).toMatchObject({ isDryRun: false, cancelled: 1, jobs: 1, running: [] })
  expect(await t.millrace.job(id)).toMatchObject({ status: 'cancelled', payload: { erased: true } })
})

test('erase finds a person by creator and by payload path, and goes on from a cursor', async () => {
  await using t = await setup()
  const creator = await t.millrace.enqueue(care, { name: 'Canary', room: 1 }, { createdBy: 'ann' })
  const room = await t.millrace.enqueue(care, { name: 'Canary', room: 2 })
  const erase = (...args: string[]) => t.run(['erase', ...args, '--reason', 'asked', '--yes', '--json'])
  expect(JSON.parse((await erase('--created-by', 'ann', '--cursor', 'archive:0')).out)).toMatchObject({ cancelled: 0 })
  expect(JSON.parse((await erase('--created-by', 'ann')).out)).toMatchObject({ cancelled: 1, jobs: 1 })
  expect(JSON.parse((await erase('--path', 'room', '--equals', '2')).out)).toMatchObject({ cancelled: 1, jobs: 1 })
  for (const { id } of [creator, room]) expect(await t.millrace.job(id)).toMatchObject({ payload: { erased: true } })
})

test.each([
  [['erase', '--path', 'room'], /\{ path, equals \}/],
  [['erase', '--created-by', 'ann', '--cursor', 'x'], /cursor is "x"/],
  [['erase', '--yes', '--reason', 'x'], /one of --tenant, --type/],
  [['erase', '--type', 'care', '--where', 'x'], /--where.* is not JSON/],
  [['erase', '--type', 'care', '--where', '[1]'], /Expected a JSON object/],
])('%j is refused', async (args, message) => {
  await using t = await setup()
  expect(await t.run(args)).toMatchObject({ code: 1, err: expect.stringMatching(message) })
})
