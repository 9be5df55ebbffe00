// Builds packages/dashboard into packages/admin/dist/dashboard, where the admin server finds it and `npm pack` takes it along.
// It does nothing if no input has changed since the last build.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))
const dashboard = join(root, 'packages/dashboard')
const target = join(root, 'packages/admin/dist/dashboard')
const stamp = join(target, '.inputs')
/** A file that is smaller fits into a packet or two anyway. */
const LEAST_BYTES = 1_000

const inputs = inputsHash()
const isCurrent = existsSync(stamp) && readFileSync(stamp, 'utf8') === inputs
if (!isCurrent) {
  const { build } = await import('vite')
  await build({ configFile: join(dashboard, 'vite.config.ts'), logLevel: 'warn' })
  compress()
  writeFileSync(stamp, inputs)
}

function inputsHash() {
  const hash = createHash('sha256')
  const files = [
    ...filesIn(join(dashboard, 'src')),
    ...['index.html', 'vite.config.ts', 'package.json'].map((name) => join(dashboard, name)),
    // The contract is bundled as data, and the libraries are what the lockfile says.
    ...filesIn(join(root, 'packages/admin/dist/contract')).filter((path) => path.endsWith('.js')),
    join(root, 'package-lock.json'),
    fileURLToPath(import.meta.url),
  ]
  for (const path of files) hash.update(path.slice(root.length)).update('\0').update(readFileSync(path)).update('\0')
  return hash.digest('hex')
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

/** Beside each asset its compressed forms, so that the server never compresses. */
function compress() {
  for (const path of filesIn(join(target, 'assets'))) {
    const content = readFileSync(path)
    if (content.length < LEAST_BYTES || !/\.(js|css|svg|json)$/.test(path)) continue
    writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }))
    writeFileSync(`${path}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }))
  }
}
