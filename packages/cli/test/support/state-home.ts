import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOM = 1_000_000_000

/** In memory where there is room: clusters that keep their data wait for the disk, which on a busy machine takes half a minute. */
async function root(): Promise<string> {
  const memory = await statfs('/dev/shm').catch(() => undefined)
  return memory !== undefined && memory.bavail * memory.bsize > ROOM ? '/dev/shm' : tmpdir()
}

/** A place for an embedded cluster of this test's own, so that nobody's data is touched. */
export class StateHome implements AsyncDisposable {
  readonly path: string
  readonly env: Record<string, string>

  private constructor(path: string) {
    this.path = path
    this.env = { MILLRACE_STATE_HOME: path }
  }

  static async create(): Promise<StateHome> {
    const path = await mkdtemp(join(await root(), 'millrace-cli-'))
    await chmod(path, 0o755)
    return new StateHome(path)
  }

  /** The pids of the servers that run on the clusters here. */
  async servers(): Promise<number[]> {
    const clusters = join(this.path, 'millrace', 'clusters')
    const names = existsSync(clusters) ? await readdir(clusters) : []
    const pidFiles = names.map((name) => join(clusters, name, 'data', 'postmaster.pid')).filter(existsSync)
    return pidFiles.map((file) => Number(readFileSync(file, 'utf8').split('\n')[0])).filter(isAlive)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of await this.servers()) process.kill(pid, 'SIGQUIT')
    await rm(this.path, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 })
  }
}

/** A process that has ended, but whose parent has not asked for its exit code yet, is not alive. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch {
    return false
  }
}

function isZombie(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
