import { existsSync, lstatSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, readlink, rm, stat, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installBinaries, locateCarrier } from '#src/install'
import { ownToken } from '#src/process-identity'
import { OtherProcess } from './other-process.ts'
import { type Scratch, scratchDirectory } from './scratch.ts'

const installModule = new URL('../dist/install.js', import.meta.url).href

let scratch: Scratch

beforeAll(async () => {
  scratch = await scratchDirectory()
})

afterAll(async () => {
  await scratch[Symbol.asyncDispose]()
})

describe('installing the binaries', () => {
  it('works in several processes at once, and clears up after one that was killed halfway', async () => {
    const { version } = await locateCarrier()
    const target = join(scratch.path, `postgres-${version}-${process.platform}-${process.arch}`)
    const abandoned = `${target}.incoming-${ownToken().replace(/\d+$/, '1')}.abcd`
    await mkdir(abandoned)
    const body = `
      process.umask(0o077)
      const { installBinaries, locateCarrier } = await import('${installModule}')
      say('ready')
      await told()
      say(await installBinaries(await locateCarrier(), '${scratch.path}'))
    `
    const processes = [new OtherProcess(body), new OtherProcess(body)]
    for (const each of processes) await each.said()
    for (const each of processes) each.tell()
    for (const each of processes) expect(await each.said()).toBe(join(target, 'bin'))
    for (const each of processes) await each.ended()
    expect(await readdir(scratch.path)).toEqual([target.slice(scratch.path.length + 1)])
  })

  it('makes the links that an install script would have made', async () => {
    const carrier = await locateCarrier()
    const installed = dirname(await installBinaries(carrier, scratch.path))
    const list = JSON.parse(await readFile(join(carrier.directory, 'native', 'pg-symlinks.json'), 'utf8'))
    expect(list.length).toBeGreaterThan(0)
    for (const { source, target } of list) {
      const link = join(installed, relative('native', target))
      expect(await readlink(link)).toBe(relative(dirname(target), source))
      expect(existsSync(link)).toBe(true)
    }
  })

  it('lets every user read and run them, whatever the umask was', async () => {
    const bin = await installBinaries(await locateCarrier(), scratch.path)
    for (const path of [dirname(bin), bin, join(bin, 'postgres'), join(bin, 'initdb')]) {
      expect((await stat(path)).mode & 0o777).toBe(0o755)
    }
    const entries = await readdir(join(bin, '..'), { recursive: true, withFileTypes: true })
    const paths = entries.map((entry) => join(entry.parentPath, entry.name))
    expect(paths.filter((path) => (lstatSync(path).mode & 0o044) !== 0o044)).toEqual([])
  })

  it('copies links that are there already as they are', async () => {
    await using other = await scratchDirectory()
    const carrier = { directory: join(other.path, 'carrier'), version: '0' }
    const native = join(carrier.directory, 'native')
    await mkdir(join(native, 'bin'), { recursive: true })
    await cp(new URL(import.meta.url), join(native, 'bin', 'postgres'))
    await symlink('postgres', join(native, 'bin', 'postmaster'))
    const bin = await installBinaries(carrier, other.path)
    expect(await readlink(join(bin, 'postmaster'))).toBe('postgres')
    await rm(carrier.directory, { recursive: true })
    expect(await installBinaries(carrier, other.path)).toBe(bin)
  })

  it('leaves nothing half-made behind when it fails', async () => {
    await using other = await scratchDirectory()
    const failure = installBinaries({ directory: join(other.path, 'no-such-package'), version: '0' }, other.path)
    await expect(failure).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await readdir(other.path)).toEqual([])
  })
})
