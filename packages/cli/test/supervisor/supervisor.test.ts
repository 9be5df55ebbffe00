import { fork } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { Supervisor, type SupervisorEvents } from '#src/supervisor/supervisor'
import { CrashLoop, StartFailed } from '#src/supervisor/verdict'
import { workerArgs } from '#src/supervisor/worker-command'
import { fixture } from '../support/program.ts'
import { isAlive } from '../support/state-home.ts'

/** What each new process does: by its number and how many there were before it. */
type Script = (process: number, before: number) => string

const worker = 'leave ready live'
const times = { firstMs: 20, longestMs: 100, provenMs: 60_000 }

function setup(script: Script, options: Partial<ConstructorParameters<typeof Supervisor>[0]> = {}) {
  const forked = new Map<number, number>()
  const supervisor = new Supervisor({
    processes: 1,
    times,
    stopMs: 10_000,
    fork(number) {
      const before = forked.get(number) ?? 0
      forked.set(number, before + 1)
      return fork(fixture('child.js'), script(number, before).split(' '))
    },
    ...options,
  })
  return {
    supervisor,
    /** The next event of that name. */
    async next<Name extends keyof SupervisorEvents>(name: Name): Promise<SupervisorEvents[Name][0]> {
      const [facts] = await once(supervisor, name)
      return facts
    },
    async started(): Promise<void> {
      let ready = 0
      const all = new Promise<void>((resolve) =>
        supervisor.on('process_ready', () => ++ready === supervisor.processes.length && resolve()),
      )
      supervisor.start()
      await all
    },
    async [Symbol.asyncDispose]() {
      await supervisor.kill()
    },
  }
}

const pidOf = ({ supervisor }: { supervisor: Supervisor }, process = 1) =>
  supervisor.processes[process - 1]?.pid as number

test('a process that was killed is started again, and its death is an event with all facts', async () => {
  await using t = setup(() => worker)
  await t.started()
  const pid = pidOf(t)
  const [died, ready] = [t.next('process_died'), once(t.supervisor, 'process_ready')]
  process.kill(pid, 'SIGKILL')
  expect(await died).toEqual({
    process: 1,
    pid,
    workerId: `worker of ${pid}`,
    code: null,
    signal: 'SIGKILL',
    ranMs: expect.any(Number),
    restartInMs: 20,
    error: null,
  })
  expect(t.supervisor.processes).toEqual([{ process: 1, pid: null, state: 'waiting', restarts: 0, workerId: null }])
  expect(t.supervisor.obstacle()).toBe('no process is ready: 1 is waiting')
  await ready
  expect(t.supervisor.processes).toMatchObject([{ state: 'ready', restarts: 1, workerId: `worker of ${pidOf(t)}` }])
  expect(t.supervisor.obstacle()).toBeUndefined()
})

async function pausesOfDeaths(provenMs: number): Promise<(number | null)[]> {
  await using t = setup(() => worker, { times: { ...times, provenMs } })
  await t.started()
  const pauses: (number | null)[] = []
  for (let i = 0; i < 5; i++) {
    const ready = t.next('process_ready')
    const died = t.next('process_died')
    process.kill(pidOf(t), 'SIGKILL')
    pauses.push((await died).restartInMs)
    await ready
  }
  return pauses
}

test('the pause before a restart doubles with every death, up to the longest', async () => {
  expect(await pausesOfDeaths(60_000)).toEqual([20, 40, 80, 100, 100])
})

test('the pause is short again after a process that has proven itself', async () => {
  expect(await pausesOfDeaths(0)).toEqual([20, 20, 20, 20, 20])
})

test('five deaths in a row before it was ready are a crash loop', async () => {
  await using t = setup(() => 'exit')
  t.supervisor.start()
  const failure = await t.supervisor.failed.catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(CrashLoop)
  expect(String(failure)).toMatch(/^CrashLoop: Process 1 died 5 times in a row .* \(the last time: exit code 7\)/)
})

test('deaths of one process are no crash loop while another one works, but an obstacle', async () => {
  await using t = setup((number) => (number === 1 ? worker : 'exit'), { processes: 2 })
  let isFailed = false
  t.supervisor.failed.catch(() => {
    isFailed = true
  })
  const ready = t.next('process_ready')
  let deaths = 0
  const seven = new Promise<void>((resolve) => t.supervisor.on('process_died', () => ++deaths === 7 && resolve()))
  t.supervisor.start()
  await ready
  await seven
  expect(isFailed).toBe(false)
  expect(t.supervisor.obstacle()).toBe('process 2 died 7 times in a row before it was ready')
  expect(t.supervisor.processes).toMatchObject([{ state: 'ready' }, { restarts: 6 }])
})

test.each(['final', 'unknown', 'outage'])(
  'a first start that fails (%s) is given up, with what it said',
  async (kind) => {
    await using t = setup(() => `chatter ${kind} exit`)
    t.supervisor.start()
    const failure = await t.supervisor.failed.catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StartFailed)
    expect((failure as Error).message).toMatch(/is (wrong|away)$/)
  },
)

test('a restart that can never succeed is given up too', async () => {
  await using t = setup((_, before) => (before === 0 ? worker : 'final exit'))
  await t.started()
  process.kill(pidOf(t), 'SIGKILL')
  await expect(t.supervisor.failed).rejects.toThrow('the module is wrong')
})

test('restarts that fail for want of the database go on until it is back', async () => {
  await using t = setup((_, before) => (before === 0 || before === 8 ? worker : 'outage exit'))
  await t.started()
  const back = t.next('process_ready')
  process.kill(pidOf(t), 'SIGKILL')
  expect(await Promise.race([back, t.supervisor.failed])).toMatchObject({ process: 1 })
  expect(t.supervisor.processes).toMatchObject([{ restarts: 8 }])
})

test('a process whose lease is in doubt is not ready, and is left alone', async () => {
  await using t = setup(() => 'leave ready not-ready live')
  await t.started()
  await expect.poll(() => t.supervisor.processes).toMatchObject([{ state: 'not ready', restarts: 0 }])
  expect(t.supervisor.obstacle()).toBe('no process is ready: 1 is not ready')
})

test('stop ends them in order; one that does not heed is killed', async () => {
  await using t = setup((number) => (number === 1 ? worker : 'stay ready live'), { processes: 2, stopMs: 300 })
  await t.started()
  const ends: unknown[] = []
  t.supervisor.on('process_stopped', ({ process, code, signal }) => ends.push({ process, code, signal }))
  await t.supervisor.stop()
  expect(ends).toEqual([
    { process: 1, code: 0, signal: null },
    { process: 2, code: null, signal: 'SIGKILL' },
  ])
  expect(t.supervisor.processes).toMatchObject([{ state: 'stopped' }, { state: 'stopped' }])
})

test('nothing is started again once everything was asked to stop', async () => {
  await using t = setup(() => worker)
  await using another = setup(() => worker)
  await Promise.all([t.started(), another.started()])
  const died = t.next('process_died')
  process.kill(pidOf(t), 'SIGKILL')
  await died
  let isStarted = false
  t.supervisor.on('process_started', () => {
    isStarted = true
  })
  await t.supervisor.stop()
  // Its pause is as long, and begins later.
  const startedAgain = another.next('process_started')
  process.kill(pidOf(another), 'SIGKILL')
  await startedAgain
  expect(isStarted).toBe(false)
})

test('a rolling restart replaces one after the other, and each leaves only when its successor is ready', async () => {
  await using t = setup(() => worker, { processes: 3 })
  await t.started()
  const before = t.supervisor.processes.map(({ pid }) => pid as number)
  const story: string[] = []
  let fewest = 3
  for (const name of ['process_started', 'process_ready', 'process_stopped', 'process_died'] as const) {
    t.supervisor.on(name, ({ process }: { process: number }) => {
      story.push(`${name} ${process}`)
      fewest = Math.min(fewest, t.supervisor.processes.filter(({ state }) => state === 'ready').length)
    })
  }
  const ended = t.next('rolling_restart_ended')
  await t.supervisor.roll()
  expect(await ended).toEqual({ replaced: 3, isComplete: true })
  expect(story).toEqual(
    [1, 2, 3].flatMap((n) => [`process_started ${n}`, `process_ready ${n}`, `process_stopped ${n}`]),
  )
  expect(fewest).toBe(3)
  expect(before.filter(isAlive)).toEqual([])
  // Nobody died.
  expect(t.supervisor.processes.map(({ restarts }) => restarts)).toEqual([0, 0, 0])
})

test('a rolling restart is broken off when a successor cannot start, and the old processes stay', async () => {
  await using t = setup((number, before) => (number === 2 && before === 1 ? 'final exit' : worker), { processes: 3 })
  await t.started()
  const [, second, third] = t.supervisor.processes
  const ended = t.next('rolling_restart_ended')
  const died = t.next('process_died')
  await t.supervisor.roll()
  expect(await died).toMatchObject({ process: 2, error: 'the module is wrong', restartInMs: null })
  expect(await ended).toEqual({ replaced: 1, isComplete: false })
  expect(t.supervisor.processes.slice(1)).toEqual([second, third])
  expect(t.supervisor.obstacle()).toBeUndefined()
})

test('a rolling restart that is wanted again while it goes on is done once more', async () => {
  await using t = setup(() => worker, { processes: 2 })
  await t.started()
  let rolls = 0
  t.supervisor.on('rolling_restart_ended', () => rolls++)
  await Promise.all([t.supervisor.roll(), t.supervisor.roll(), t.supervisor.roll()])
  expect(rolls).toBe(2)
})

test('a process that dies while its successor starts is not started a third time', async () => {
  await using t = setup(() => worker)
  await t.started()
  const old = pidOf(t)
  const died = t.next('process_died')
  t.supervisor.once('process_started', () => process.kill(old, 'SIGKILL'))
  await t.supervisor.roll()
  expect(await died).toMatchObject({ pid: old, restartInMs: null })
  expect(t.supervisor.processes).toMatchObject([{ state: 'ready', restarts: 0 }])
  expect(pidOf(t)).not.toBe(old)
})

test('a program that cannot be started at all is a crash loop', async () => {
  const nowhere = () => fork(fixture('child.js'), { execPath: '/nowhere/node' })
  await using t = setup(() => worker, { fork: nowhere })
  t.supervisor.start()
  await expect(t.supervisor.failed).rejects.toThrow('the last time: it could not be started')
})

test('worker processes get every argument but those of the supervisor', () => {
  const args = 'work a.js --processes 3 --grace 5s --port=80 --concurrency mail=2 --processes=4 --port 0 --host ::1'
  expect(workerArgs(args.split(' ')).join(' ')).toBe('work a.js --grace 5s --concurrency mail=2 --host ::1')
})

test('the place of a process that an operator asked to stop stays empty until a rolling restart fills it', async () => {
  await using t = setup((number, before) => (number === 1 && before === 0 ? 'ready leaving quit' : worker), {
    processes: 2,
  })
  const stopped = t.next('process_stopped')
  let died = 0
  t.supervisor.on('process_died', () => died++)
  const ready = t.next('process_ready')
  t.supervisor.start()
  expect(await stopped).toMatchObject({ process: 1, code: 0 })
  expect(t.supervisor.processes[0]).toMatchObject({ pid: null, state: 'stopped', restarts: 0 })
  await ready
  await expect.poll(() => t.supervisor.processes[1]?.state).toBe('ready')
  await t.supervisor.roll()
  expect(t.supervisor.processes.map(({ state }) => state)).toEqual(['ready', 'ready'])
  expect(died).toBe(0)
})

test('when every process was asked to stop by operators, the supervisor says so', async () => {
  await using t = setup(() => 'ready leaving quit')
  const left = t.next('all_left')
  t.supervisor.start()
  await left
  expect(t.supervisor.processes).toMatchObject([{ state: 'stopped' }])
})
