// `millrace top`: what it shows, and what its keys do.
import { PassThrough } from 'node:stream'
import { createMillrace, defineJob, defineQueues, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { LiveTop } from '#src/top/live'
import { read } from '#src/top/reading'
import { choicesOf, screen } from '#src/top/screen'
import { freshDatabase } from '../../engine/test/support/database.ts'
import { ran } from './support/program.ts'

const queues = defineQueues({ mail: {}, slow: {} })
const send = defineJob({ type: 'send', queue: queues.mail, payload: z.object({ to: z.string() }) })
const nap = defineJob({ type: 'nap', queue: queues.slow, payload: z.object({}) })

async function setup() {
  const database = await freshDatabase()
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const millrace = createMillrace({ database: database.url, jobs: [send, nap], logger: silent })
  return {
    millrace,
    url: database.url,
    async [Symbol.asyncDispose]() {
      await millrace.close()
      await database.drop()
    },
  }
}

const size = { columns: 120, rows: 40 }
const viewOf = (reading: Awaited<ReturnType<typeof read>>, chosen = 0) => ({
  ...{ reading, database: 'db', intervalMs: 2_000, chosen, notice: '' },
})

test('shows queues, lanes and the jobs that run longest, and says when no worker runs', async () => {
  await using t = await setup()
  await t.millrace.enqueueMany(send, [{ to: 'ann' }, { to: 'bob' }])
  const before = screen(viewOf(await read(t.millrace)), size)
  expect(before.join('\n')).toMatch(/▸ {2}mail +2 +2/)
  expect(before.join('\n')).toContain('No worker runs: jobs wait until one does.')
  expect(before).toHaveLength(40)
  const started = t.millrace.events.next('job_started', ({ job }) => job.type === 'nap')
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const { id } = await t.millrace.enqueue(nap, {})
  await t.millrace.work({ handlers: [implement(nap, () => gate)], lease: { heartbeat: '100ms' } })
  await started
  const running = () => read(t.millrace).then(({ runs }) => runs.map(({ jobId }) => jobId))
  await expect.poll(running).toEqual([id])
  const reading = await read(t.millrace)
  const lines = screen(viewOf(reading, choicesOf(reading).length - 1), size).join('\n')
  expect(lines).toMatch(/slow +█░{9} {2}1 of 10 slots/)
  expect(lines).toMatch(new RegExp(`▸ {2}${id} +nap`))
  open()
})

test('fits any screen', async () => {
  await using t = await setup()
  const reading = await read(t.millrace)
  const small = screen(viewOf(reading), { columns: 20, rows: 3 })
  expect(small).toHaveLength(3)
  expect(Math.max(...small.map((line) => line.length))).toBeLessThanOrEqual(20)
})

test('p pauses the chosen queue and resumes it, q gives the terminal back', async () => {
  await using t = await setup()
  await t.millrace.enqueue(send, { to: 'ann' })
  const input = new PassThrough()
  const output = Object.assign(new PassThrough(), { columns: 120, rows: 40 })
  let shown = ''
  output.on('data', (chunk) => {
    shown += chunk
  })
  const options = { millrace: t.millrace, database: 'db', intervalMs: 60_000, by: 'ann' }
  const ended = new LiveTop({ ...options, input: input as never, output: output as never }).run()
  await expect.poll(() => shown).toContain('mail')
  input.write('p')
  await expect.poll(() => t.millrace.pauses.list()).toMatchObject([{ queue: 'mail', by: 'ann' }])
  await expect.poll(() => shown).toContain('mail is paused')
  input.write('p')
  await expect.poll(() => t.millrace.pauses.list()).toEqual([])
  input.write('\r')
  await expect.poll(() => shown).toContain('Choose a running job')
  input.write('q')
  await ended
  expect(shown.endsWith('\u001b[?25h\u001b[?1049l')).toBe(true)
})

test('prints one screen where there is no terminal, and the reading with --json', async () => {
  await using t = await setup()
  await t.millrace.enqueue(send, { to: 'ann' })
  const top = (...args: string[]) => ran(['top', ...args], { DATABASE_URL: t.url })
  expect((await top()).out).toMatch(/^millrace top .*\n\n.*QUEUE +WAITING/)
  expect(JSON.parse((await top('--json')).out)).toMatchObject({ queues: [{ queue: 'mail', waiting: 1 }] })
})
