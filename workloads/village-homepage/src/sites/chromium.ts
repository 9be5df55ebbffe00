// Which browser takes the screenshots: the one that is configured, else the one that npm has brought, else an installed one.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { unpackedChromium } from './unpack-chromium.ts'

export interface Program {
  readonly path: string
  /** What it needs besides an empty environment. */
  readonly env: Readonly<Record<string, string>>
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const MAC = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'

/** Throws an error that says what is missing, and what to do. */
export async function findChromium(configured: string | undefined): Promise<Program> {
  if (configured !== undefined) {
    if (existsSync(configured)) return { path: configured, env: {} }
    throw new Error(
      `screenshots.chromium is ${configured}, and there is no such file. Set VILLAGE_CHROMIUM to a browser.`,
    )
  }
  if (process.platform === 'linux' && process.arch === 'x64') {
    const folder = await unpackedChromium()
    return { path: join(folder, 'chromium'), env: environmentOf(folder) }
  }
  const path = installed()
  if (path !== undefined) return { path, env: {} }
  throw new Error(
    `There is no Chromium: npm brings one for Linux on x64 only, and this is ${process.platform} on ${process.arch}. Install Chromium or Chrome, or set VILLAGE_CHROMIUM to its path.`,
  )
}

function installed(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const paths = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)))
  return [...paths, MAC].find((path) => existsSync(path))
}

/** Where libraries of the system are missing, those that come with the browser take their place. */
function environmentOf(folder: string): Record<string, string> {
  const env = { FONTCONFIG_FILE: join(folder, 'fonts.conf') }
  if (missingLibraries(folder, env).length === 0) return env
  const own = { ...env, LD_LIBRARY_PATH: join(folder, 'lib') }
  const missing = missingLibraries(folder, own)
  if (missing.length === 0) return own
  throw new Error(
    `Chromium needs ${missing.join(', ')}, which this system lacks. Install them (Debian: libnss3, libnspr4, libexpat1), or set VILLAGE_CHROMIUM to a browser that runs here.`,
  )
}

function missingLibraries(folder: string, env: Record<string, string>): string[] {
  const options = { env: { PATH: process.env.PATH ?? '', ...env }, encoding: 'utf8' } as const
  const listed = execFileSync('ldd', [join(folder, 'chromium')], options)
  return [...listed.matchAll(/^\s*(\S+) => not found/gm)].map(([, name]) => name as string)
}
