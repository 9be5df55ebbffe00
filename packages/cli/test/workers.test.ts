import { defineJob, defineQueues, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup as base } from './support/setup.ts'
import { event, setup as supervised } from './support/supervised.ts'

const queues = defineQueues({ mail: { concurrency: 2 } })
const send = defineJob({ type: 'mail.send', queue: queues.mail, payload: z.object({}) })
const lease = { heartbeat: '200ms', ttl: '30s', sweep: '1s' } as const

test('workers are listed with their slots and jobs, and one is quieted and resumed by the beginning of its id', async () => {
  await using t = await base({ jobs: [send] })
  expect(await t.run('workers')).toMatchObject({ code: 0, out: 'No worker is running.\n' })
  const worker = await t.millrace.work({ handlers: [implement(send, () => {})], lease })
  const id = worker.id.slice(0, 8)
  const listed = await t.run('workers')
  expect(listed.out).toMatch(/^ID +HOST +PID +STATE +SLOTS +MEMORY +LOOP LAG +LISTEN +UP SINCE +BEAT\n/)
  expect(listed.out).toMatch(new RegExp(`^${id} .* ${process.pid} +working +mail 0/2 +\\d+ % +\\d+ ms`, 'm'))
  const asked = t.millrace.events.next('worker_asked')
  const quieted = await t.run('workers', 'quiet', id, '--reason', 'a leak', '--by', 'ann')
  expect(quieted).toMatchObject({
    code: 0,
    out: `Worker ${id} is asked to take no more jobs. Let it go on with: millrace workers resume ${id}\n`,
  })
  expect((await asked).request).toEqual({ kind: 'quiet', by: 'ann', reason: 'a leak' })
  expect((await t.run('workers')).out).toMatch(/ (quiet, by|working \(asked to quiet by) ann: a leak/)
  expect(await t.run('workers', 'resume', id)).toMatchObject({ code: 0, out: `Worker ${id} may take jobs again.\n` })
  const json = JSON.parse((await t.run('workers', '--json')).out)
  expect(json).toMatchObject([{ id: worker.id, request: null, report: { lanes: [{ name: 'mail', slots: 2 }] } }])
  expect(await t.run('workers', 'stop', 'ffff-none', '--reason', 'x')).toMatchObject({
    code: 1,
    err: expect.stringContaining('no living worker has that id'),
  })
})

test('a supervisor does not replace a worker that was asked to stop, and ends when the last one has', async () => {
  await using t = await supervised('nap.js --processes 2')
  const [first, second] = [await t.ready(1), await t.ready(2)]
  const ask = { by: 'ann', reason: 'the machine is taken down' }
  await t.millrace.workers.stop(first.workerId, ask)
  expect(await t.work.logged(event('process_stopped'))).toMatchObject({ processPid: first.pid, code: 0 })
  await t.millrace.workers.stop(second.workerId, ask)
  expect((await t.work.ended()).code).toBe(0)
  expect(t.work.lines.filter(event('process_died'))).toEqual([])
  expect(t.work.lines.filter(event('process_started'))).toEqual([])
  expect(t.work.lines.filter(event('process_ready')).length).toBe(2)
  expect(await t.sql('select distinct ended_reason from millrace.worker')).toEqual([
    { ended_reason: 'stopped, as ann asked: the machine is taken down' },
  ])
})
