import { expect, test } from 'vitest'
import { isAlive } from './support/state-home.ts'
import { event, setup } from './support/supervised.ts'

test('after SIGTERM every process waits for its running jobs, and the supervisor ends with code 0', async () => {
  await using t = await setup('nap.js', { WORKER_PROCESSES: '2' })
  await t.ready(2)
  const { id, pid } = await t.napping()
  t.work.signal('SIGTERM')
  await t.work.said(/waiting for 1 running job, at most 25s/)
  process.kill(pid, 'SIGUSR2')
  expect(await t.work.ended()).toMatchObject({ code: 0 })
  expect(t.work.lines.filter(event('process_stopped')).map(({ code }) => code)).toEqual([0, 0])
  expect(await t.millrace.job(id)).toMatchObject({ status: 'completed', attempt: 1 })
})

test('a second signal kills every process at once, and ends their leases', async () => {
  await using t = await setup('nap.js --processes 2')
  await t.ready(2)
  const { id, pid } = await t.napping()
  t.work.signal('SIGTERM')
  await t.work.said(/waiting for 1 running job/)
  t.work.signal('SIGTERM')
  expect(await t.work.ended()).toMatchObject({ code: 143, err: expect.stringContaining('stopped at once') })
  expect(isAlive(pid)).toBe(false)
  expect(await t.millrace.job(id)).toMatchObject({ status: 'processing' })
  expect(await t.sql('select from millrace.worker where ended_at is null')).toEqual([])
})

test('one Ctrl-C, which reaches the processes too, is one request: running jobs complete', async () => {
  await using t = await setup('nap.js --processes 2')
  await t.ready(2)
  const { id, pid } = await t.napping()
  t.work.signalGroup('SIGINT')
  await t.work.said(/waiting for 1 running job/)
  process.kill(pid, 'SIGUSR2')
  expect(await t.work.ended()).toMatchObject({ code: 0 })
  expect(await t.millrace.job(id)).toMatchObject({ status: 'completed', attempt: 1 })
})

test('a second Ctrl-C ends everything at once', async () => {
  await using t = await setup('nap.js --processes 2')
  await t.ready(2)
  await t.napping()
  t.work.signalGroup('SIGINT')
  // From the supervisor itself: two signals that it has not heard yet are one.
  await t.work.logged(({ msg, process }) => process === undefined && /once more to stop at once/.test(String(msg)))
  t.work.signalGroup('SIGINT')
  expect(await t.work.ended()).toMatchObject({ code: 130 })
})

test('under npm, which passes the Ctrl-C of the terminal on, the echo is no second one', async () => {
  await using t = await setup('nap.js --processes 1', { npm_lifecycle_event: 'start' })
  const { pid } = await t.ready(1)
  const { id } = await t.napping()
  t.work.signalGroup('SIGINT')
  t.work.signal('SIGINT')
  await t.work.said(/waiting for 1 running job/)
  process.kill(pid, 'SIGUSR2')
  expect(await t.work.ended()).toMatchObject({ code: 0 })
  expect(await t.millrace.job(id)).toMatchObject({ status: 'completed' })
})

test('when the supervisor is killed, its processes stop in order', async () => {
  await using t = await setup('nap.js --processes 2')
  await t.ready(2)
  const { id, pid } = await t.napping()
  t.work.signal('SIGKILL')
  await t.work.said(/waiting for 1 running job/)
  process.kill(pid, 'SIGUSR2')
  // Its output is closed when the last process that writes to it has ended.
  const { code, err } = await t.work.ended()
  expect(code).toBeNull()
  expect(err.match(/the supervisor is gone/g)).toHaveLength(2)
  expect(await t.millrace.job(id)).toMatchObject({ status: 'completed', attempt: 1 })
  expect(await t.sql('select distinct ended_reason from millrace.worker')).toEqual([{ ended_reason: 'shut down' }])
})
