// Failures: find a kind, try it with a canary, decide about it.
import type { Millrace } from 'millrace'
import type { Page } from 'playwright-core'
import { expect, inject } from 'vitest'
import { browse, expectAccessible, test } from './support/browse.ts'
import { experiment } from './support/lab.ts'
import { clientOf } from './support/system.ts'

/** Dead letters of a kind of their own: two of each of four tenants. */
async function burn(millrace: Millrace, message: string): Promise<string> {
  const tenants = ['copper-kettle', 'amber-kiln', 'blue-heron-books', 'hollow-oak']
  for (const tenant of [...tenants, ...tenants]) await millrace.enqueue(experiment, { fails: message }, { tenant })
  const letters = () => millrace.deadLetters.list({ type: experiment.type, status: 'pending', limit: 200 })
  const mine = async () => (await letters()).filter(({ errorMessage }) => errorMessage === message)
  await expect.poll(async () => (await mine()).length).toBe(8)
  return (await mine())[0]?.fingerprint as string
}

const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

test('a mended kind of failure is tried with a canary, and the rest follows', async () => {
  await using millrace = clientOf(inject('systemDatabase'))
  const message = 'the kiln was off, and is on again'
  for (const tenant of [
    'copper-kettle',
    'amber-kiln',
    'blue-heron-books',
    'hollow-oak',
    'copper-kettle',
    'amber-kiln',
  ]) {
    const { id } = await millrace.enqueue(experiment, { note: 'fired' }, { tenant, delay: '1h' })
    await millrace.fail(id, { by: 'ann', reason: message, final: true })
  }
  await using opened = await browse('/admin/failures', { as: 'operator' })
  const { page } = opened
  await row(page, message).getByRole('button', { name: /^Try / }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/letters? will be redriven/).waitFor()
  expect(await dialog.getByText(/--canary --rate 20\/s/).count()).toBe(1)
  await dialog.getByRole('button', { name: /^Redrive \d/ }).click()
  await page.waitForURL(/\/admin\/failures\/[0-9a-f]+\?type=lab\.experiment/)
  await page.getByRole('heading', { name: /^The redrive is done: 6 of 6/ }).waitFor({ timeout: 25_000 })
  await page.getByRole('heading', { level: 1, name: /No letter of lab\.experiment .* waits any more/ }).waitFor()
}, 60_000)

test('a canary that dies stops the redrive, and the other letters stay', async () => {
  await using millrace = clientOf(inject('systemDatabase'))
  const fingerprint = await burn(millrace, 'the kiln is far too hot')
  await using opened = await browse(`/admin/failures/${fingerprint}`, { as: 'operator' })
  const { page } = opened
  await page.getByRole('heading', { level: 1, name: /8 lab\.experiment jobs/ }).waitFor()
  await page.keyboard.press('c')
  await page.getByRole('dialog').getByRole('button', { name: 'Redrive 8' }).click()
  await page.getByRole('heading', { name: /The canary has died: the redrive was stopped/ }).waitFor({ timeout: 25_000 })
  expect(await page.getByText('One has died, so the redrive stopped here.').count()).toBe(1)
  await page.getByText('It does not begin: these letters stay as they are.').waitFor()
  const kept = await millrace.deadLetters.list({ fingerprint, status: 'pending' })
  expect(kept.length).toBeGreaterThanOrEqual(3)
}, 60_000)

test('a kind is noted, acknowledged and resolved, each after saying what will happen', async () => {
  await using millrace = clientOf(inject('systemDatabase'))
  const message = 'the scale shows no weight at all'
  const fingerprint = await burn(millrace, message)
  await using opened = await browse('/admin/failures', { as: 'operator' })
  const { page } = opened
  await page.getByRole('link', { name: /^New/ }).click()
  const decide = async (name: string) => {
    await row(page, message)
      .getByRole('button', { name: /^More decisions/ })
      .click()
    await page.getByRole('menuitem', { name }).click()
  }
  await decide('Add a note…')
  await page.getByLabel('Note', { exact: true }).fill('The scale is <b>broken</b>')
  await page.getByRole('button', { name: 'Add the note' }).click()
  await page.getByText('The note stands at 8 letters.').waitFor()
  await decide('Acknowledge')
  await page.getByRole('button', { name: 'Acknowledge 8' }).click()
  await page.getByText('8 letters of lab.experiment are acknowledged.').waitFor()
  await row(page, message).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: /^Acknowledged/ }).click()
  await decide('Resolve…')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Resolve 8' }).click()
  await dialog.getByText(/8 of 8 changed. Done/).waitFor({ timeout: 25_000 })
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
  const letters = await millrace.deadLetters.list({ fingerprint })
  expect(new Set(letters.map(({ status }) => status))).toEqual(new Set(['resolved']))
  expect(letters[0]?.notes).toContain('The scale is <b>broken</b>')
}, 60_000)

test('a viewer sees no button that would be refused, and letters without payloads', async () => {
  await using opened = await browse('/admin/failures', { as: 'viewer' })
  const { page } = opened
  await row(page, 'Kestrel answered 503').getByRole('link', { name: 'van.book' }).click()
  await page.getByRole('heading', { name: 'The newest of them' }).waitFor()
  expect(
    await page
      .getByRole('main')
      .getByRole('button', { name: /Try|Acknowledge|Resolve|Ignore|note/ })
      .count(),
  ).toBe(0)
  expect(await page.getByText('Payload', { exact: true }).count()).toBe(0)
})

test('a tenant sees its own letters alone', async () => {
  await using opened = await browse('/admin/failures', { as: 'tenant' })
  const { page } = opened
  await row(page, 'Kestrel answered 503').getByRole('link', { name: 'van.book' }).click()
  await page.getByRole('heading', { name: 'Tenants hit, 1 in all' }).waitFor()
  expect(await page.getByText('thistle-and-twine').count()).toBe(0)
})

test('hostile messages are text', async () => {
  await using millrace = clientOf(inject('systemDatabase'))
  const hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`
  await burn(millrace, hostile)
  await using opened = await browse('/admin/failures')
  const { page } = opened
  await row(page, hostile).getByRole('link', { name: 'lab.experiment' }).click()
  await page.getByRole('heading', { name: 'The newest of them' }).waitFor()
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('<img src=x')
  expect(await page.locator('main img, main script').count()).toBe(0)
  expect(await page.title()).not.toContain('owned')
}, 60_000)

for (const theme of ['light', 'dark'] as const)
  for (const width of [1280, 390])
    test(`the failures and one of them are accessible, ${theme} at ${width}`, async () => {
      await using opened = await browse('/admin/failures', { theme, width })
      const { page } = opened
      await page.getByRole('link', { name: 'van.book' }).first().waitFor()
      await expectAccessible(page)
      await page.getByRole('link', { name: 'van.book' }).first().click()
      await page.getByRole('heading', { name: 'The newest of them' }).waitFor()
      await expectAccessible(page)
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
    })
