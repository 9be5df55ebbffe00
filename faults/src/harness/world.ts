// One scenario's world: a database, a history, and the processes and proxies that live in it. All end with it.
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestDatabase } from '@millrace/embedded'
import pg from 'pg'
import type { ScenarioOptions } from '../scenario.ts'
import type { BufferSettings } from './buffer-main.ts'
import { Child, type ChildPlan } from './child.ts'
import { Fleet, type FleetWishes, fleetArgs, MILLRACE } from './fleet.ts'
import { History } from './history.ts'
import type { MutationName } from './mutations.ts'
import { Producer } from './producer.ts'
import { FaultProxy } from './proxy.ts'
import type { ScheduleSpec } from './schedules.ts'
import { until } from './until.ts'
import type { WorkerSettings } from './worker-main.ts'

export interface WorkerWishes {
  label: string
  slots?: number
  lease?: WorkerSettings['lease']
  graceMs?: number
  /** Where its engine connects instead of the server. */
  proxy?: FaultProxy
  execArgv?: string[]
  schedules?: readonly ScheduleSpec[]
  /** By how much its own clock is wrong. */
  skewMs?: number
  /** Also runs the types 'apart' and 'isolated'. */
  isApart?: boolean
  /** The program, if it is not the usual one. */
  entry?: string
}

/** Short enough to wait for, long enough for a busy machine with two cores. */
export const LEASE = { heartbeat: 150, ttl: 1_200, sweep: 200 }
/** By when a dead worker's runs must be pending again. */
export const recoveryMs = ({ heartbeat, ttl, sweep }: WorkerSettings['lease']): number => heartbeat + ttl + sweep
const READY_DEADLINE_MS = 30_000
const SKEWED = ['--import', new URL('./skew-preload.js', import.meta.url).href]

export class World implements AsyncDisposable {
  readonly url: string
  readonly db: pg.Pool
  readonly history: History
  readonly mutation: MutationName | undefined
  readonly #directory: string
  readonly #database: TestDatabase
  readonly #children = new Set<Child>()
  readonly #proxies: FaultProxy[] = []

  private constructor(options: ScenarioOptions, database: TestDatabase, directory: string) {
    this.url = database.url
    this.mutation = options.mutation
    this.#directory = directory
    this.#database = database
    this.history = new History(join(directory, 'history.jsonl'))
    this.db = new pg.Pool({ connectionString: database.url, max: 4, connectionTimeoutMillis: 10_000 })
    this.db.on('error', () => {})
  }

  static async open(options: ScenarioOptions): Promise<World> {
    const directory = await mkdtemp(join(tmpdir(), 'millrace-fault-'))
    const world = new World(options, await options.server.freshDatabase(), directory)
    // No unique key: a second effect must be seen, not prevented.
    await world.db.query(`
      create schema fault;
      create table fault.effect (n text not null, run_id uuid not null, kind text not null, at timestamptz default now())`)
    return world
  }

  async query<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.db.query<Row>(sql, values)).rows
  }

  async count(sql: string, values: unknown[] = []): Promise<number> {
    const [row] = await this.query<{ count: string }>(`select count(*) from (${sql}) as counted`, values)
    return Number(row?.count)
  }

  /** Starts a worker process. It may still be starting when this returns. */
  spawnWorker(wishes: WorkerWishes): Child {
    const { label } = wishes
    const settings: Omit<WorkerSettings, 'label'> = {
      engineUrl: wishes.proxy?.url ?? this.url,
      serverUrl: this.url,
      historyFile: this.history.file,
      gate: this.#gateOf(label),
      slots: wishes.slots ?? 10,
      lease: wishes.lease ?? LEASE,
      graceMs: wishes.graceMs ?? 2_000,
      isApart: wishes.isApart ?? false,
      schedules: wishes.schedules ?? [],
      skewMs: wishes.skewMs ?? 0,
    }
    const execArgv = [...(settings.skewMs === 0 ? [] : SKEWED), ...(wishes.execArgv ?? [])]
    return this.#spawn(label, wishes.entry ?? './worker-main.js', settings, execArgv)
  }

  /** Starts a worker process and waits until it works. */
  async startWorker(wishes: WorkerWishes): Promise<Child> {
    const known = this.#startsOf(wishes.label)
    const child = this.spawnWorker(wishes)
    await until(`worker ${wishes.label} started`, READY_DEADLINE_MS, () => {
      if (!child.isRunning)
        throw new Error(`Worker ${wishes.label} ended while it started: ${this.#lastWords(wishes.label)}`)
      return this.#startsOf(wishes.label) > known
    })
    return child
  }

  /** A process that was started under that label and still runs. */
  worker(label: string): Child {
    const child = [...this.#children].find((each) => each.label === label)
    if (child === undefined) throw new Error(`No process ${label} is running.`)
    return child
  }

  startProducer(label: string, proxy?: FaultProxy): Producer {
    const settings = { engineUrl: proxy?.url ?? this.url, serverUrl: this.url, historyFile: this.history.file }
    return new Producer(this.#spawn(label, './producer-main.js', settings))
  }

  /** Starts a program with a spike buffer. It may still be starting when this returns. */
  spawnBuffer(label: string, settings: Partial<BufferSettings> & { redisUrl: string }): Child {
    const given: BufferSettings = {
      ...{ engineUrl: this.url, historyFile: this.history.file, tasks: [], moves: false, pauseMs: 0 },
      ...settings,
    }
    return this.#spawn(label, './buffer-main.js', given)
  }

  /** Starts `millrace work --processes` and waits until all of them work. */
  async startFleet(wishes: FleetWishes): Promise<Fleet> {
    const { label, processes } = wishes
    const child = this.#launch({
      label,
      entry: MILLRACE,
      settings: { serverUrl: this.url, historyFile: this.history.file, gate: this.#gateOf(label) },
      args: fleetArgs(wishes),
      env: { DATABASE_URL: this.url, LOG_LEVEL: 'info' },
    })
    const fleet = new Fleet(child, this.#logOf(label))
    await until(`fleet ${label} started`, READY_DEADLINE_MS, () => {
      if (!child.isRunning) throw new Error(`Fleet ${label} ended while it started: ${this.#lastWords(label)}`)
      return fleet.events('process_ready').length >= processes
    })
    return fleet
  }

  async proxy(): Promise<FaultProxy> {
    const proxy = await FaultProxy.before(this.url)
    this.#proxies.push(proxy)
    return proxy
  }

  /** Lets the 'hold' tasks of that worker go on; freezes it in the middle of the next tick of a schedule. */
  async openGate(label: string): Promise<void> {
    await writeFile(this.#gateOf(label), '')
  }

  /** Whoever froze at its gate has taken it away. */
  isGateOpen(label: string): boolean {
    return existsSync(this.#gateOf(label))
  }

  /** The names of the files, logs and history, in which this text stands. */
  async filesWith(text: string): Promise<string[]> {
    const names = await readdir(this.#directory)
    const texts = await Promise.all(names.map((name) => readFile(join(this.#directory, name), 'utf8')))
    return names.filter((_, i) => texts[i]?.includes(text))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#children].map((child) => child.kill()))
    await Promise.all(this.#proxies.map((proxy) => proxy[Symbol.asyncDispose]()))
    await this.db.end().catch(() => {})
    await this.#database.drop().catch(() => {})
    if (process.env.MILLRACE_FAULT_KEEP) process.stderr.write(`kept: ${this.#directory}\n`)
    else await rm(this.#directory, { recursive: true, force: true })
  }

  #startsOf(label: string): number {
    return this.history.events('worker_started').filter((fact) => fact.who === label).length
  }

  #logOf(label: string): string {
    return join(this.#directory, `${label}.log`)
  }

  #lastWords(label: string): string {
    return readFileSync(this.#logOf(label), 'utf8').slice(-2_000)
  }

  #gateOf(label: string): string {
    return join(this.#directory, `${label}.open`)
  }

  #spawn(label: string, entry: string, settings: object, execArgv: string[] = []): Child {
    return this.#launch({ label, entry, settings, execArgv })
  }

  #launch(plan: Omit<ChildPlan, 'logFile' | 'mutation'>): Child {
    const child = new Child({ ...plan, logFile: this.#logOf(plan.label), mutation: this.mutation })
    this.#children.add(child)
    void child.exited.then(() => this.#children.delete(child))
    return child
  }
}
