// The Chromium of the package @sparticuz/chromium, unpacked once into the cache of this user. Its own way would be a folder in /tmp,
// where other users of the machine could put another program first.
import { execFile } from 'node:child_process'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createBrotliDecompress } from 'node:zlib'

/** One folder for each version. Several processes may unpack at once: the first rename wins. */
export async function unpackedChromium(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const find = createRequire(import.meta.url)
  const root = join(dirname(find.resolve('@sparticuz/chromium')), '../..')
  const { version } = find(join(root, 'package.json')) as { version: string }
  const cache = join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'millrace')
  const folder = join(cache, `chromium-${version}`)
  if (existsSync(folder)) return folder
  const making = `${folder}.${process.pid}`
  await mkdir(making, { recursive: true })
  try {
    await inflate(join(root, 'bin/chromium.br'), join(making, 'chromium'))
    await untar(join(root, 'bin/al2023.tar.br'), making)
    await untar(join(root, 'bin/fonts.tar.br'), making)
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

/** The fonts of this machine, and Open Sans, which every machine then has. */
const fontConfiguration = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${folder}</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`
