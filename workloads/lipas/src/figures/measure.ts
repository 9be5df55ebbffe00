// One stage of the figures: a computation of all places at once, with an e-mail every now and then beside it.
import { createMillrace, type Logger, type Millrace } from 'millrace'
import { contracts, email } from '../contracts.ts'
import { lipasHandlers } from '../handlers.ts'
import { lipas, type RunningSandbox } from '../lipas.ts'
import { loadSampleData } from '../sandbox/load-sample-data.ts'
import { municipality } from '../sandbox/municipality.ts'
import { readSettings } from '../settings.ts'
import type { LipasSystem } from '../system.ts'

export interface Stage {
  readonly name: string
  readonly type: 'elevation' | 'analysis'
  readonly mode: 'euclid' | 'route'
}

export interface Figures {
  readonly name: string
  readonly places: number
  readonly failed: number
  readonly units: number
  readonly unit: 'heights' | 'squares'
  /** To the elevation service. */
  readonly requests: number | null
  readonly seconds: number
  /** Of the worker's process: tells the same on a busy machine. */
  readonly cpuSeconds: number
  /** Resident memory of the process of the worker. */
  readonly peakMb: number
  readonly mails: number
  readonly waitP95Ms: number
}

interface Surroundings {
  readonly databaseUrl: string
  readonly sandbox: RunningSandbox
}

const MAIL_EVERY_MS = 500
const LOOK_EVERY_MS = 50
const quiet: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: (...args) => console.error(...args) }

export async function measure(stage: Stage, { databaseUrl, sandbox }: Surroundings): Promise<Figures> {
  let system: LipasSystem | undefined
  const workload = lipas({
    settings: readSettings({ ...sandbox.variables, LIPAS_DISTANCE_MODE: stage.mode }),
    handlers: (its) => {
      system = its
      return lipasHandlers(its)
    },
  })
  const millrace = createMillrace({ database: databaseUrl, jobs: [...contracts], logger: quiet })
  const announce = () => {}
  const started = await workload.start?.({
    ...{ millrace, logger: quiet, databaseUrl, mode: 'work', queues: ['lipas'], announce },
  })
  try {
    if (system !== undefined) await loadSampleData(system.database)
    return await run(stage, millrace, () => millrace.work({ ...workload.settings, handlers: workload.handlers }))
  } finally {
    await millrace.close()
    await started?.stop()
  }
}

async function run({ name, type }: Stage, millrace: Millrace, work: () => Promise<unknown>): Promise<Figures> {
  const contract = contracts.find((each) => each.type === type) as (typeof contracts)[number]
  const items = municipality().places.map(({ lipasId }) => ({ job: contract, payload: { 'lipas-id': lipasId } }))
  const jobs = await millrace.enqueueMany(items as never)
  const ids = (jobs as { id: string }[]).map(({ id }) => id)
  const beside = watch(millrace)
  const [from, cpuFrom] = [performance.now(), process.cpuUsage()]
  await work()
  const ends = await Promise.all(ids.map((id) => millrace.result(id, { timeout: '30m' })))
  const seconds = (performance.now() - from) / 1_000
  const cpu = process.cpuUsage(cpuFrom)
  const cpuSeconds = (cpu.user + cpu.system) / 1e6
  const results = ends.flatMap((end) => (end.status === 'completed' ? [end.result as Record<string, number>] : []))
  const sum = (key: string) => results.reduce((all, result) => all + (result[key] ?? 0), 0)
  const isElevation = type === 'elevation'
  return {
    ...{ name, places: ids.length, failed: ends.length - results.length, seconds, cpuSeconds, ...beside.end() },
    units: sum(isElevation ? 'vertices' : 'cells'),
    unit: isElevation ? 'heights' : 'squares',
    requests: isElevation ? sum('requests') : null,
  }
}

/** Sends mails, and watches how long they wait and how much memory is used, until the end. */
function watch(millrace: Millrace) {
  const waits: number[] = []
  let peakBytes = 0
  const off = millrace.events.on('job_started', ({ job, waitMs }) => {
    if (job.type === email.type) waits.push(waitMs)
  })
  const mails = setInterval(() => {
    millrace.enqueue(email, { to: 'user@example.com' }).catch((error) => console.error(error))
  }, MAIL_EVERY_MS)
  const looks = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
  }, LOOK_EVERY_MS)
  const end = () => {
    clearInterval(mails)
    clearInterval(looks)
    off()
    waits.sort((one, other) => one - other)
    const waitP95Ms = waits[Math.max(0, Math.ceil(waits.length * 0.95) - 1)] ?? Number.NaN
    return { mails: waits.length, waitP95Ms, peakMb: peakBytes / 1024 ** 2 }
  }
  return { end }
}
