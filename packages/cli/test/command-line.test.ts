// What holds for all commands: misspelt subcommands, the database before the command, required options, readers that leave.
import { createMillrace, defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { freshDatabase } from '../../engine/test/support/database.ts'
import { saidBy } from './support/in-process.ts'
import { fixture, Program } from './support/program.ts'
import { setup } from './support/setup.ts'

const queues = defineQueues({ beds: {}, mail: {} })
const nap = defineJob({ type: 'nap', queue: queues.beds, payload: z.object({}) })
const letter = defineJob({
  type: 'letter',
  queue: queues.mail,
  payload: z.object({ to: z.string() }),
  version: 2,
  migrate: { 1: (name) => ({ to: String(name) }) },
})

test.each([
  ['schedules', 'lst', 'list'],
  ['dead', 'grups', 'groups'],
  ['limits', 'ste', 'set'],
])('a misspelt subcommand is an unknown one: %s %s', async (group, given, meant) => {
  const { code, err } = await saidBy([group, given])
  expect(code).toBe(1)
  expect(err).toContain(`error: unknown command '${given}'`)
  expect(err).toMatch(new RegExp(`Did you mean .*${meant}`))
})

test('too many arguments of a subcommand that was named are still that', async () => {
  expect((await saidBy(['schedules', 'list', 'nightly'])).err).toContain("too many arguments for 'list'")
})

test('the database may be given before the command, and the one beside the command counts', async () => {
  await using t = await setup({ jobs: [nap] })
  const { id } = await t.millrace.enqueue(nap, {})
  const url = ['--database-url', t.env.DATABASE_URL]
  const elsewhere = ['--database-url', 'postgres://localhost:1/nowhere']
  const lists = await Promise.all([
    saidBy([...url, 'jobs', '--json']),
    saidBy([...elsewhere, 'jobs', '--json', ...url]),
    saidBy([...url, 'jobs', '--json'], { DATABASE_URL: 'postgres://localhost:1/nowhere' }),
  ])
  for (const { out } of lists) expect(JSON.parse(out)).toMatchObject([{ id }])
  expect(await saidBy([...url, 'schedules', 'list'])).toMatchObject({ code: 0 })
  expect(await saidBy(['schedules', ...url, 'show', 'nightly'])).toMatchObject({
    err: expect.stringContaining('"nightly"'),
  })
})

test('the help marks the options that are required', async () => {
  expect((await saidBy(['pause', '--help'])).out).toMatch(/--reason <text> .*\(required\)/s)
  const { out } = await saidBy(['schedules', 'create', '--help'])
  expect(out.match(/\(required\)/g)).toHaveLength(2)
})

test('a reader that leaves early, like head, is no failure', async () => {
  await using t = await setup({ jobs: [nap] })
  await t.millrace.enqueueMany(
    nap,
    Array.from({ length: 1_000 }, () => ({})),
  )
  await using program = new Program(['jobs', '--limit', '1000'], t.env)
  program.closeOutput()
  expect(await program.ended()).toMatchObject({ code: 0, err: '' })
})

test('a worker that stops tells how many jobs it has finished', async () => {
  await using database = await freshDatabase()
  const millrace = createMillrace({ database: database.url, jobs: [letter] })
  await using work = new Program(['work', fixture('post.js')], { DATABASE_URL: database.url, GOOD: '1' })
  const { id } = await millrace.enqueue(letter, { to: 'ann' })
  expect(await millrace.result(id, { timeout: '20s' })).toMatchObject({ status: 'completed' })
  work.signal('SIGTERM')
  expect(await work.logged(({ msg }) => msg.startsWith('the worker has stopped'))).toMatchObject({ finished: 1 })
  await millrace.close()
})
