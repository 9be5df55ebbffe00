// What a worker costs that has nothing to do: five queues, nobody enqueues. Statements per minute, and processor time.
import { setTimeout as sleep } from 'node:timers/promises'
import { createMillrace, type Millrace } from 'millrace'
import type { Bench } from '../bench.ts'
import { Child } from '../child.ts'
import { openDeafProxy } from '../deaf-proxy.ts'
import { aimed, atMost } from '../report.ts'
import { interleaveTrials, type Trial } from '../rounds.ts'
import { NO_SERVER_CPU, serverCpu } from '../server-cpu.ts'
import {
  COUNTING_SETTINGS,
  openStatementCounter,
  type StatementCount,
  type StatementCounter,
} from '../statement-count.ts'
import type { Suite } from '../suite.ts'
import { enqueueAll, trivial, untilEmpty } from '../trivial-jobs.ts'

const LISTENING = 'LISTEN healthy'
const POLLING = 'polling'
const OTHERS = 'other statements'
/** A worker judges others only when it has held its lease for 45 s: before that it asks less. */
const SETTLE_SECONDS = 50
/** Beside the queue of the trivial jobs: five in all. */
const QUIET_QUEUES = ['critical', 'mail', 'reports', 'bulk']
/** worker_beat.sql, and job_running.sql that follows it. */
const HEARTBEAT = /heartbeat_at = coalesce|where worker_id = \$1\s+and status = /

export const idle: Suite = {
  name: 'idle',
  summary: 'statements and processor time per minute of a worker that has nothing to do',
  jobs: 500,
  rounds: 2,
  seconds: 60,
  serverSettings: COUNTING_SETTINGS,

  async run(bench) {
    const { options, progress, step, databaseUrl, serverUrl } = bench
    await using counter = await openStatementCounter(serverUrl, databaseUrl)
    await using millrace = createMillrace({ database: databaseUrl, jobs: [trivial] })
    const readServerCpu = await serverCpu(bench)
    const statements: Record<string, StatementCount[][]> = {}
    const trials = [LISTENING, POLLING].map((name) =>
      resting({ bench, millrace, counter, readServerCpu }, name, (counts) => {
        statements[name] = [...(statements[name] ?? []), counts]
      }),
    )
    const measurements = await interleaveTrials(trials, { ...options, progress, step, warmUp: false })
    return {
      measurements: measurements.map((each) =>
        each.name === `${LISTENING}, ${OTHERS}` ? aimed(each, atMost(10)) : each,
      ),
      ratios: [],
      details: { statements },
      notes: readServerCpu === undefined ? [NO_SERVER_CPU] : [],
    }
  },
}

interface Scene {
  readonly bench: Bench
  readonly millrace: Millrace
  readonly counter: StatementCounter
  readonly readServerCpu: (() => Promise<number>) | undefined
}

function resting(scene: Scene, name: string, onCounts: (counts: StatementCount[]) => void): Trial {
  const { bench, counter, readServerCpu } = scene
  return {
    name,
    units: {
      heartbeats: 'statements/min',
      [OTHERS]: 'statements/min',
      'CPU of the worker': 'ms/min',
      ...(readServerCpu && { 'CPU of the server': 'ms/min' }),
    },
    async measure() {
      await using proxy = name === POLLING ? await openDeafProxy(bench.databaseUrl) : undefined
      await using worker = new Child()
      await settled(scene, worker, proxy?.url)
      const seconds = bench.options.seconds ?? 60
      const readCpu = async () => [await worker.call('cpuUs'), (await readServerCpu?.()) ?? 0] as const
      const [workerBefore, serverBefore] = await readCpu()
      await counter.reset()
      bench.step(`${name}: counting for ${seconds} s`)
      await sleep(seconds * 1_000)
      const counts = await counter.counts()
      const [workerAfter, serverAfter] = await readCpu()
      onCounts(counts)
      const perMinute = (value: number) => (value * 60) / seconds
      return {
        ...Object.fromEntries(Object.entries(byKind(counts)).map(([kind, calls]) => [kind, perMinute(calls)])),
        'CPU of the worker': perMinute(workerAfter - workerBefore) / 1_000,
        'CPU of the server': perMinute(serverAfter - serverBefore) / 1_000,
      }
    },
  }
}

/** It has started, run some jobs, and come to rest. */
async function settled({ bench, millrace }: Scene, worker: Child, proxyUrl: string | undefined): Promise<void> {
  const { pool, databaseUrl, options } = bench
  await worker.call('startWorker', {
    databaseUrl: proxyUrl ?? databaseUrl,
    quietQueues: QUIET_QUEUES,
    untilTrusted: proxyUrl === undefined,
  })
  await enqueueAll(millrace, options.jobs)
  await untilEmpty(pool)
  bench.step('waiting until the worker has come to rest')
  await sleep(Math.min(SETTLE_SECONDS, options.seconds ?? SETTLE_SECONDS) * 1_000)
}

function byKind(counts: readonly StatementCount[]): Record<string, number> {
  const sum = (some: readonly StatementCount[]) => some.reduce((total, { calls }) => total + calls, 0)
  const heartbeats = sum(counts.filter(({ query }) => HEARTBEAT.test(query)))
  return { heartbeats, [OTHERS]: sum(counts) - heartbeats }
}
