// Follows "Use it in your project" of the README as a stranger would: its commands in an empty folder, its files as they are.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { root } from './document.ts'

/** `npm test` has done this already, in the clone that the tests run in. */
const DONE = 'npm ci && npm run build'

export interface Said {
  readonly code: number | null
  readonly output: string
}

export class WayIn implements AsyncDisposable {
  readonly folder: string
  readonly home: string
  readonly #env: NodeJS.ProcessEnv
  readonly #running = new Set<ChildProcess>()

  private constructor(home: string, node: string) {
    this.home = home
    this.folder = join(home, 'project')
    const { DATABASE_URL: _, PORT: __, NODE_OPTIONS: ___, ...env } = process.env
    this.#env = {
      ...withoutNpm(env),
      ...npmSettings(),
      HOME: home,
      PATH: `${dirname(node)}:${process.env.PATH}`,
      PORT: '0',
      MILLRACE_STATE_HOME: join(home, 'state'),
    }
  }

  /** `node`: the path of the Node to do it with. */
  static async begin(node: string): Promise<WayIn> {
    const home = await mkdtemp(join(tmpdir(), 'millrace-way-in-'))
    await chmod(home, 0o755)
    const wayIn = new WayIn(home, node)
    await mkdir(wayIn.folder)
    await mkdir(join(home, 'state'))
    return wayIn
  }

  /** Packs the packages, installs them, writes the files and compiles them: everything before `millrace dev`. */
  async install(): Promise<void> {
    const [pack = '', install = ''] = shellBlocks()
    for (const line of linesOf(pack)) if (line !== DONE) await this.demand(line, root)
    for (const line of linesOf(install)) await this.demand(line)
    await writeFile(join(this.folder, 'tsconfig.json'), blocksOf('json')[0] as string)
    await mkdir(join(this.folder, 'src'))
    await writeFile(join(this.folder, 'src/workload.ts'), blocksOf('ts')[0] as string)
  }

  /** The last two commands: one that goes on, and one for a second terminal. */
  async run(): Promise<{ banner: string; answer: string; ending: string }> {
    const [dev = '', enqueue = ''] = linesOf(shellBlocks().at(-1) as string)
    return this.runBeside(dev, enqueue)
  }

  /** Starts `dev`, runs `enqueue` when that is ready, and stops it. */
  async runBeside(
    dev: string,
    enqueue: string,
    cwd = this.folder,
  ): Promise<Record<'banner' | 'answer' | 'ending', string>> {
    let answer = ''
    const { banner, ending } = await this.during(dev, cwd, async () => {
      answer = await this.demand(enqueue, cwd)
    })
    return { banner, answer, ending }
  }

  /** Starts `dev`, does `work` when that is ready, and stops it. */
  async during(dev: string, cwd: string, work: (banner: string) => Promise<void>) {
    const program = this.#start(dev, cwd)
    const banner = await saidBy(program, /Ctrl-C to stop/)
    await work(banner)
    const ending = endOf(program)
    // As Ctrl-C does: the shell ends by it, the program in order.
    process.kill(-(program.pid as number), 'SIGINT')
    return { banner, ending: (await ending).output }
  }

  /** Runs a command line as a shell does. */
  async sh(line: string, cwd = this.folder): Promise<Said> {
    return endOf(this.#start(line, cwd))
  }

  /** … and throws what it said if it fails. */
  async demand(line: string, cwd = this.folder): Promise<string> {
    const { code, output } = await this.sh(line, cwd)
    if (code !== 0) throw new Error(`${line}\nended with code ${code}:\n${output}`)
    return output
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#running) process.kill(-(program.pid as number), 'SIGKILL')
    await rm(this.home, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 })
  }

  #start(line: string, cwd: string): ChildProcess {
    const program = spawn('sh', ['-c', line], {
      cwd,
      env: this.#env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#running.add(program)
    program.once('close', () => this.#running.delete(program))
    return program
  }
}

function section(): string {
  const text = readFileSync(join(root, 'README.md'), 'utf8')
  return /^## Use it in your project\n(.*?)^## /ms.exec(text)?.[1] ?? ''
}

const blocksOf = (language: string): string[] =>
  [...section().matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map((match) => match[1] as string)
const shellBlocks = (): string[] => blocksOf('sh')
const linesOf = (block: string): string[] => block.split('\n').filter((line) => line !== '')

/** What `npm test` sets for its own scripts is not for other projects. */
const withoutNpm = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^(npm_|INIT_CWD)/i.test(name)))

/** The folder is somebody else's home, but the registry and the cache are those of this machine. */
function npmSettings(): NodeJS.ProcessEnv {
  const names = ['cache', 'userconfig', 'registry']
  const values = execFileSync('npm', ['config', 'get', ...names], { cwd: root, encoding: 'utf8' })
  const settings = values
    .trim()
    .split('\n')
    .map((line) => line.split('='))
  return {
    ...Object.fromEntries(settings.map(([name, value]) => [`npm_config_${name}`, value])),
    npm_config_prefer_offline: 'true',
    npm_config_update_notifier: 'false',
  }
}

async function saidBy(program: ChildProcess, pattern: RegExp): Promise<string> {
  let text = ''
  return new Promise((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      text += chunk
      if (pattern.test(text)) resolve(text)
    }
    program.stdout?.on('data', hear)
    program.stderr?.on('data', hear)
    program.once('close', () => reject(new Error(`It ended without saying ${pattern}:\n${text}`)))
  })
}

async function endOf(program: ChildProcess): Promise<Said> {
  let output = ''
  program.stdout?.on('data', (chunk) => (output += chunk))
  program.stderr?.on('data', (chunk) => (output += chunk))
  const [code] = await once(program, 'close')
  return { code, output }
}
