// `millrace init` writes into an empty folder, or writes nothing.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { saidBy } from './support/in-process.ts'

async function setup(...packs: string[]) {
  const home = await mkdtemp(join(tmpdir(), 'millrace-init-'))
  onTestFinished(() => rm(home, { recursive: true }))
  const packages = join(home, 'packs')
  await mkdir(packages)
  for (const pack of packs) await writeFile(join(packages, pack), '')
  const init = (folder: string, ...options: string[]) =>
    saidBy(['init', join(home, folder), '--packages', packages, '--no-install', ...options])
  return { home, packages, init }
}

const all = [
  'millrace-0.1.0.tgz',
  'millrace-cli-0.1.0.tgz',
  'millrace-embedded-0.1.0.tgz',
  'millrace-telemetry-0.1.0.tgz',
]

test('names the project after its folder and depends on the tarballs', async () => {
  const t = await setup(...all)
  const { code, out } = await t.init('My Jobs!', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ name: 'my-jobs', isInstalled: false })
  const read = (file: string) => readFile(join(t.home, 'My Jobs!', file), 'utf8')
  const { dependencies, devDependencies } = JSON.parse(await read('package.json'))
  expect(dependencies).toMatchObject({
    millrace: `file:${join(t.packages, 'millrace-0.1.0.tgz')}`,
    '@millrace/telemetry': expect.stringContaining('millrace-telemetry-0.1.0.tgz'),
  })
  expect(Object.keys(devDependencies)).toContain('@millrace/embedded')
  expect(await read('src/workload.ts')).toContain("name: 'my-jobs'")
  expect(await read('.gitignore')).toContain('node_modules/')
})

test('refuses a folder that is not empty, and a folder without the tarballs', async () => {
  const t = await setup(...all)
  await mkdir(join(t.home, 'taken/.git'), { recursive: true })
  await writeFile(join(t.home, 'taken/notes.txt'), 'mine')
  const refused = await t.init('taken')
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringMatching(/is not empty: it holds notes\.txt\. Nothing was written/),
  })
  expect(await readdir(join(t.home, 'taken'))).toEqual(['.git', 'notes.txt'])
  const bare = await setup('millrace-0.1.0.tgz')
  expect((await bare.init('new')).err).toMatch(/holds no tarball of @millrace\/cli\. Pack them in a clone/)
  expect(await readdir(bare.home)).toEqual(['packs'])
})

test('completion knows the commands and their options, in every shell', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, out } = await saidBy(['completion', shell])
    expect(code).toBe(0)
    expect(out).toContain('redrive')
    expect(out).toMatch(/(--|-l )database-url/)
  }
  expect((await saidBy(['completion', 'tcsh'])).code).toBe(1)
})
