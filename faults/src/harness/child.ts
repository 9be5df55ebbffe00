// A process of a scenario, under control: killed, frozen, thawed, asked to leave. Always by its own pid.
import { type ChildProcess, fork } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { eventually } from './until.ts'

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
  at: number
}

export interface ChildPlan {
  label: string
  entry: string
  settings: object
  logFile: string
  mutation?: string | undefined
  execArgv?: string[]
  args?: string[]
  env?: Record<string, string>
}

const PRELOAD = ['--import', new URL('./mutate-preload.js', import.meta.url).href]
const EXIT_DEADLINE_MS = 10_000

export class Child {
  readonly label: string
  readonly process: ChildProcess
  /** Resolves when the process is gone, however it went. */
  readonly exited: Promise<Exit>
  exit: Exit | undefined

  constructor(plan: ChildPlan) {
    this.label = plan.label
    const log = openSync(plan.logFile, 'a')
    this.process = fork(new URL(plan.entry, import.meta.url), plan.args ?? [], {
      execArgv: ['--enable-source-maps', ...(plan.mutation === undefined ? [] : PRELOAD), ...(plan.execArgv ?? [])],
      env: {
        ...process.env,
        NODE_OPTIONS: '',
        ...plan.env,
        MILLRACE_FAULT_PROCESS: JSON.stringify({ ...plan.settings, label: plan.label }),
        MILLRACE_FAULT_MUTATION: plan.mutation ?? '',
      },
      stdio: ['ignore', log, log, 'ipc'],
    })
    closeSync(log)
    this.process.on('error', () => {})
    this.exited = new Promise((resolve) => {
      this.process.once('exit', (code, signal) => {
        this.exit = { code, signal, at: Date.now() }
        resolve(this.exit)
      })
    })
  }

  get isRunning(): boolean {
    return this.exit === undefined
  }

  signal(name: NodeJS.Signals): void {
    if (this.isRunning) this.process.kill(name)
  }

  /** SIGKILL, and wait until it is gone. */
  async kill(): Promise<Exit> {
    this.signal('SIGKILL')
    return this.exited
  }

  /** SIGTERM, and wait; the answer says how long it took. */
  async terminate(withinMs: number): Promise<Exit & { tookMs: number }> {
    const asked = Date.now()
    this.signal('SIGTERM')
    const isGone = await eventually(withinMs + EXIT_DEADLINE_MS, () => this.exit)
    const exit = isGone ?? (await this.kill())
    return { ...exit, tookMs: exit.at - asked }
  }
}
