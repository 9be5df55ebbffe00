import { existsSync } from 'node:fs'
import { chmod, mkdir, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { canTraverse, claimDirectory } from '#src/directory-safety'
import { surveyHost } from '#src/host'
import { projectName, stateDirectory, temporaryRoot, volatileRoot } from '#src/places'
import { scratchDirectory } from './scratch.ts'

const isRoot = process.geteuid?.() === 0
const somebody = { name: 'somebody', uid: 12_345, gid: 12_345 }

describe('the name of a project', () => {
  it('is the same in all of a checkout and different in another', () => {
    const here = projectName(import.meta.dirname)
    expect(here).toMatch(/^embedded-[0-9a-f]{8}$/)
    expect(projectName(join(import.meta.dirname, 'deeper', 'still'))).toBe(here)
    expect(projectName('/somewhere/else/embedded')).toMatch(/^embedded-[0-9a-f]{8}$/)
    expect(projectName('/somewhere/else/embedded')).not.toBe(here)
  })

  it('is a harmless directory name, whatever the project is called', () => {
    expect(projectName('/x/..my project (new)')).toMatch(/^-my-project-new--[0-9a-f]{8}$/)
    expect(projectName('/')).toMatch(/^root-[0-9a-f]{8}$/)
  })
})

describe('a directory', () => {
  it('is made for its reader whatever the umask, and shut to others without one', async () => {
    await using scratch = await scratchDirectory()
    const umask = process.umask(0o077)
    const shut = await claimDirectory(join(scratch.path, 'a', 'b'), undefined, true)
    process.umask(umask)
    expect(shut).toEqual({ path: join(scratch.path, 'a', 'b') })
    expect((await stat(join(scratch.path, 'a', 'b'))).mode & 0o777).toBe(0o700)
    expect(await claimDirectory(join(scratch.path, 'c'), somebody, true)).toEqual({ path: join(scratch.path, 'c') })
    expect((await stat(join(scratch.path, 'c'))).mode & 0o777).toBe(0o755)
  })

  it('that the caller chose keeps its mode, and is refused if others may write it', async () => {
    await using scratch = await scratchDirectory()
    await chmod(scratch.path, 0o777)
    expect(await claimDirectory(scratch.path, undefined, false)).toMatchObject({
      refused: expect.stringContaining('written'),
    })
    expect((await stat(scratch.path)).mode & 0o777).toBe(0o777)
  })

  it('below one that everybody may write is refused, unless that is sticky', async () => {
    await using scratch = await scratchDirectory()
    await chmod(scratch.path, 0o777)
    const path = join(scratch.path, 'below')
    expect(await claimDirectory(path, undefined, true)).toMatchObject({ refused: expect.stringContaining('sticky') })
    await chmod(scratch.path, 0o1777)
    expect(await claimDirectory(path, undefined, true)).toEqual({ path })
  })

  it('below a private one is refused for another user', async () => {
    await using scratch = await scratchDirectory()
    const home = join(scratch.path, 'home')
    await mkdir(home, { mode: 0o700 })
    await mkdir(join(home, 'checkout'))
    expect(await canTraverse(join(home, 'checkout'), somebody)).toBe(false)
    const claim = await claimDirectory(join(home, 'checkout'), somebody, true)
    expect(claim).toMatchObject({ refused: expect.stringContaining('cannot be entered by somebody') })
  })

  it('is named by its real path', async () => {
    await using scratch = await scratchDirectory()
    await mkdir(join(scratch.path, 'real'))
    await symlink('real', join(scratch.path, 'link'))
    expect(await claimDirectory(join(scratch.path, 'link'), undefined, true)).toEqual({
      path: join(scratch.path, 'real'),
    })
  })
})

describe('the place for state', () => {
  it('is where MILLRACE_STATE_HOME says, or nowhere', async () => {
    await using scratch = await scratchDirectory()
    const env = { ...process.env, MILLRACE_STATE_HOME: join(scratch.path, 'state') }
    expect(await stateDirectory(await surveyHost(env))).toBe(join(scratch.path, 'state', 'millrace'))
    const failure = stateDirectory(await surveyHost({ MILLRACE_STATE_HOME: '/dev/null' }))
    await expect(failure).rejects.toMatchObject({ code: 'place_unusable' })
    await expect(failure).rejects.toThrow('/dev/null/millrace')
  })

  it.runIf(isRoot)('is /var/lib/millrace for root', async () => {
    expect(await stateDirectory(await surveyHost({ HOME: '/root' }))).toBe('/var/lib/millrace')
  })

  it.skipIf(isRoot)('is below the home directory otherwise, or where XDG_STATE_HOME says', async () => {
    await using scratch = await scratchDirectory()
    const home = await stateDirectory(await surveyHost({ HOME: scratch.path }))
    expect(home).toBe(join(scratch.path, '.local', 'state', 'millrace'))
    const xdg = await stateDirectory(await surveyHost({ HOME: '/', XDG_STATE_HOME: join(scratch.path, 'xdg') }))
    expect(xdg).toBe(join(scratch.path, 'xdg', 'millrace'))
  })
})

describe('the place for temporary files', () => {
  it('is TMPDIR, if the user who runs Postgres can enter that', async () => {
    await using scratch = await scratchDirectory()
    expect(await temporaryRoot(await surveyHost({ TMPDIR: scratch.path }))).toBe(scratch.path)
    await chmod(scratch.path, 0o700)
    const expected = isRoot ? '/tmp' : scratch.path
    expect(await temporaryRoot(await surveyHost({ TMPDIR: scratch.path }))).toBe(expected)
  })

  it('is somewhere else if TMPDIR does not exist', async () => {
    expect(await temporaryRoot(await surveyHost({ TMPDIR: '/no/such/directory' }))).toMatch(/tmp$/)
  })
})

it.runIf(existsSync('/dev/shm'))(
  'what nobody will miss is kept in memory, unless there is too little room',
  async () => {
    await using scratch = await scratchDirectory()
    const host = await surveyHost({ TMPDIR: scratch.path })
    expect(await volatileRoot(host, 1)).toBe('/dev/shm')
    expect(await volatileRoot(host, Number.POSITIVE_INFINITY)).toBe(scratch.path)
  },
)
