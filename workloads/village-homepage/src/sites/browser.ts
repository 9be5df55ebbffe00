// One Chromium for one capture. It is spawned in our process group, so that a kill of the group takes it along; Playwright's own
// launch would leave the group and outlive it. All its traffic goes through a guarded proxy.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type EgressProxy, startEgressProxy } from '@millrace/egress'
import { type BrowserContext, chromium } from 'playwright-core'
import { findChromium, type Program } from './chromium.ts'
import { ownMemoryMb, treeOf } from './process-tree.ts'

export interface BrowserOptions {
  readonly chromium: string | undefined
  readonly allow: readonly string[]
  readonly userAgent: string
  readonly maxMemoryMb: number
  readonly signal: AbortSignal
  /** Told when it runs without Chromium's own sandbox. */
  onUnsandboxed(): void
}

export interface CaptureBrowser extends AsyncDisposable {
  readonly context: BrowserContext
  readonly proxy: EgressProxy
  /** Why it was killed, if it was. */
  readonly killedBecause: string | undefined
}

const START_MS = 15_000
const WATCH_MS = 250
/** What a page may cost, with all that it loads. */
const BUDGET = { totalMs: 50_000, maxBytes: 50_000_000, connections: 48 }

export async function startBrowser(options: BrowserOptions): Promise<CaptureBrowser> {
  const program = await findChromium(options.chromium)
  const proxy = await startEgressProxy({ allow: [...options.allow], budget: BUDGET })
  const profile = await mkdtemp(join(tmpdir(), 'village-capture-'))
  const child = launch(program, { profile, proxyUrl: proxy.url, onUnsandboxed: options.onUnsandboxed })
  let killedBecause: string | undefined
  const kill = (why: string) => {
    killedBecause ??= why
    killTree(child)
  }
  const onAbort = () => kill('the run was ended')
  options.signal.addEventListener('abort', onAbort, { once: true })
  const watch = setInterval(() => {
    const mb = ownMemoryMb(treeOf(process.pid))
    if (mb > options.maxMemoryMb) kill(`it used ${Math.round(mb)} MB of memory, and may use ${options.maxMemoryMb}`)
  }, WATCH_MS)
  const end = async () => {
    clearInterval(watch)
    options.signal.removeEventListener('abort', onAbort)
    await gone(child)
    await proxy.close()
    await rm(profile, { recursive: true, force: true, maxRetries: 3 })
  }
  try {
    const context = await connect(await endpointOf(child), { proxy, userAgent: options.userAgent })
    return {
      ...{ context, proxy },
      get killedBecause() {
        return killedBecause
      },
      [Symbol.asyncDispose]: end,
    }
  } catch (error) {
    await end()
    throw killedBecause === undefined ? error : new Error(`Chromium was killed: ${killedBecause}.`, { cause: error })
  }
}

/** The default context is never used. It has the proxy too, without its password: the browser's own services get nothing out. */
const FLAGS = [
  '--headless=new',
  '--remote-debugging-port=0',
  '--proxy-bypass-list=<-loopback>',
  '--disable-quic',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-dev-shm-usage',
  '--disable-domain-reliability',
  '--disable-extensions',
  '--disable-features=Translate,MediaRouter,OptimizationHints',
  '--disable-gpu',
  '--disable-sync',
  '--hide-scrollbars',
  '--mute-audio',
  '--no-default-browser-check',
  '--no-first-run',
  '--no-pings',
]

interface Launch {
  readonly profile: string
  readonly proxyUrl: string
  onUnsandboxed(): void
}

function launch({ path, env }: Program, { profile, proxyUrl, onUnsandboxed }: Launch): ChildProcess {
  const isRoot = process.getuid?.() === 0
  if (isRoot) onUnsandboxed()
  const flags = [
    ...FLAGS,
    `--user-data-dir=${profile}`,
    `--proxy-server=${proxyUrl}`,
    ...(isRoot ? ['--no-sandbox'] : []),
  ]
  // No variable of ours, such as a password of the database, gets into a process that runs strangers' code.
  return spawn(path, [...flags, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH ?? '', HOME: profile, TZ: 'UTC', LANG: 'C.UTF-8', ...env },
  })
}

/** It says on stderr where its debugger listens. */
function endpointOf(child: ChildProcess): Promise<string> {
  const { stderr } = child
  if (stderr === null) throw new Error('Chromium has no stderr.')
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`Chromium did not start within ${START_MS / 1_000} s.`)), START_MS)
    const said: string[] = []
    createInterface({ input: stderr }).on('line', (line) => {
      const [, endpoint] = /listening on (ws:\/\/\S+)/.exec(line) ?? []
      if (endpoint !== undefined) {
        clearTimeout(late)
        resolve(endpoint)
      } else if (said.push(line) > 20) said.shift()
    })
    child.once('error', (cause) => reject(new Error(`Chromium does not start: ${cause.message}`, { cause })))
    child.once('exit', (code, signal) =>
      reject(
        new Error(`Chromium ended at its start (${signal ?? `exit code ${code}`}): ${said.join(' ').slice(-500)}`),
      ),
    )
    child.once('close', () => clearTimeout(late))
  })
}

async function connect(
  endpoint: string,
  { proxy, userAgent }: { proxy: EgressProxy; userAgent: string },
): Promise<BrowserContext> {
  const browser = await chromium.connectOverCDP(endpoint, { timeout: START_MS })
  const { url: server, username, password } = proxy
  return browser.newContext({
    ...{ userAgent, locale: 'en-GB', timezoneId: 'UTC', reducedMotion: 'reduce' },
    proxy: { server, username, password, bypass: '<-loopback>' },
    viewport: null,
    acceptDownloads: false,
    serviceWorkers: 'block',
    permissions: [],
  })
}

function killTree({ pid }: ChildProcess): void {
  if (pid === undefined) return
  for (const each of treeOf(pid)) {
    try {
      process.kill(each, 'SIGKILL')
    } catch {
      // Gone already.
    }
  }
}

async function gone(child: ChildProcess): Promise<void> {
  const isOver = child.exitCode !== null || child.signalCode !== null || child.pid === undefined
  const exited = isOver ? undefined : new Promise((resolve) => child.once('exit', resolve))
  killTree(child)
  await exited
}
