// A Redis of one's own for tests: killed, frozen and restarted as servers are.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface RedisServerOptions {
  /** What survives a kill. Default 'none'. */
  readonly persistence?: 'none' | 'everysec' | 'always'
  /** Such as '2mb'. Default: no bound. */
  readonly maxmemory?: string
  /** What happens beyond it. Default 'noeviction'. */
  readonly policy?: string
}

/** The program to start, if there is one: MILLRACE_REDIS_BIN, else redis-server or valkey-server on the PATH. */
export function findRedis(): string | undefined {
  const named = process.env.MILLRACE_REDIS_BIN
  return (named ? [named] : ['redis-server', 'valkey-server']).find(answers)
}

function answers(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** On a free port of the loopback, in a folder of its own. Throws where no program is found. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const program = findRedis()
  if (program === undefined)
    throw new Error(
      'No redis-server was found: install redis-server or valkey-server, or name one by MILLRACE_REDIS_BIN.',
    )
  const server = new RedisServer(program, await freePort(), options)
  await server.start()
  return server
}

export class RedisServer implements AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly #program: string
  readonly #options: RedisServerOptions
  readonly #folder = mkdtempSync(join(tmpdir(), 'millrace-redis-'))
  readonly #endWithUs = () => {
    this.#child?.kill('SIGKILL')
  }
  #child: ChildProcess | undefined

  constructor(program: string, port: number, options: RedisServerOptions) {
    this.#program = program
    this.port = port
    this.url = `redis://127.0.0.1:${port}`
    this.#options = options
    process.once('exit', this.#endWithUs)
  }

  async start(): Promise<void> {
    const { persistence = 'none', maxmemory, policy = 'noeviction' } = this.#options
    const settings = {
      ...{ port: this.port, bind: '127.0.0.1', dir: this.#folder, save: '', 'maxmemory-policy': policy },
      appendonly: persistence === 'none' ? 'no' : 'yes',
      appendfsync: persistence === 'always' ? 'always' : 'everysec',
      ...(maxmemory && { maxmemory }),
    }
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
    const child = spawn(this.#program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child = child
    await new Promise<void>((resolve, reject) => {
      let said = ''
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk) => {
          said = (said + chunk).slice(-4_000)
          if (said.includes('Ready to accept connections')) resolve()
        })
      child.once('error', reject)
      child.once('close', (code) => reject(new Error(`Redis ended with code ${code}: ${said.trim()}`)))
    })
  }

  /** At once, with what it had not written. */
  async kill(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null) return
    const closed = once(child, 'close')
    child.kill('SIGKILL')
    await closed
  }

  async restart(): Promise<void> {
    await this.kill()
    await this.start()
  }

  /** It answers nobody until `thaw`. */
  freeze(): void {
    this.#child?.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child?.kill('SIGCONT')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.removeListener('exit', this.#endWithUs)
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('No port of the loopback is free.')
  return address.port
}
