// The command line and environment of a worker process: those of its supervisor, without what is the supervisor's alone.
import { type ChildProcess, fork } from 'node:child_process'
import { METRICS_VARIABLE, NUMBER_VARIABLE } from './supervised.ts'

const OWN_OPTIONS = ['--processes', '--port']
export const PROCESSES_VARIABLE = 'WORKER_PROCESSES'

/** `isScraped`: the supervisor serves metrics, so the process counts for it. */
export function forkWorker(number: number, { isScraped }: { isScraped: boolean }): ChildProcess {
  const [, program = '', ...args] = process.argv
  return fork(program, workerArgs(args), {
    env: { ...workerEnv(process.env, number), ...(isScraped && { [METRICS_VARIABLE]: '1' }) },
  })
}

/** `--port 80` and `--port=80` are both ways to say it. */
export function workerArgs(args: readonly string[]): string[] {
  return args.filter((arg, i) => {
    const isValue = OWN_OPTIONS.includes(args[i - 1] ?? '')
    return !isValue && !OWN_OPTIONS.some((option) => arg === option || arg.startsWith(`${option}=`))
  })
}

function workerEnv({ [PROCESSES_VARIABLE]: _, ...env }: NodeJS.ProcessEnv, number: number): NodeJS.ProcessEnv {
  return { ...env, [NUMBER_VARIABLE]: String(number) }
}
