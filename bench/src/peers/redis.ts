import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { CannotMeasure } from '../suite.ts'

const PROGRAM = 'redis-server'

export interface Redis extends AsyncDisposable {
  readonly url: string
}

/** Its version, if it is on the PATH. */
export function findRedis(): string | undefined {
  try {
    return /v=(\S+)/.exec(execFileSync(PROGRAM, ['--version'], { encoding: 'utf8' }))?.[1] ?? 'unknown'
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** On a free port of the loopback, in a temporary directory. */
export async function startRedis(): Promise<Redis> {
  const host = fork(fileURLToPath(new URL('./redis-host.js', import.meta.url)), [PROGRAM], { execArgv: [] })
  const ended = once(host, 'exit').then(([code]) => [{ error: `its host ended with code ${code}` }])
  const [answer] = (await Promise.race([once(host, 'message'), ended])) as [{ url: string } | { error: string }]
  if ('error' in answer) throw new CannotMeasure(`Redis could not be started: ${answer.error}`)
  return {
    url: answer.url,
    async [Symbol.asyncDispose]() {
      if (!host.connected) return
      host.disconnect()
      await ended
    },
  }
}
