// Fails if a browser would have to load more than 200 KB, compressed, before the dashboard shows its first screen.
// Read from the manifest of the build: the entry with all that it imports, and the largest screen with its own.
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const MOST_BYTES = 200_000

const folder = new URL('../packages/admin/dist/dashboard/', import.meta.url)
const manifest = JSON.parse(readFileSync(new URL('manifest.json', folder), 'utf8'))
const entry = Object.values(manifest).find(({ isEntry }) => isEntry)
const sizes = new Map()

const page = gzipSync(readFileSync(new URL('index.html', folder))).length
const shared = filesOf(entry)
const screens = (entry.dynamicImports ?? []).map((key) => {
  const own = [...filesOf(manifest[key])].filter((file) => !shared.has(file))
  return { name: manifest[key].name ?? key, bytes: total(own) }
})
const largest = screens.sort((a, b) => b.bytes - a.bytes)[0]
const bytes = page + total(shared) + largest.bytes
const kilobytes = (count) => `${(count / 1000).toFixed(1)} kB`
console.log(
  `First load of the dashboard: ${kilobytes(bytes)} of at most ${kilobytes(MOST_BYTES)} (${kilobytes(page + total(shared))} for every screen, ${kilobytes(largest.bytes)} for ${largest.name}, the largest).`,
)
if (bytes > MOST_BYTES) {
  console.error('It is too large: load what few need by a dynamic import, or take a smaller library.')
  process.exitCode = 1
}

/** Scripts and styles that are needed before it runs. */
function filesOf(chunk, found = new Set()) {
  if (found.has(chunk.file)) return found
  found.add(chunk.file)
  for (const file of chunk.css ?? []) found.add(file)
  for (const key of chunk.imports ?? []) filesOf(manifest[key], found)
  return found
}

function total(files) {
  return [...files].reduce((sum, file) => sum + sizeOf(file), 0)
}

function sizeOf(file) {
  if (!sizes.has(file)) sizes.set(file, gzipSync(readFileSync(new URL(file, folder)), { level: 9 }).length)
  return sizes.get(file)
}
