// The frame: what surrounds every screen.
import { expect } from 'vitest'
import { browse, expectAccessible, test } from './support/browse.ts'

test('the dashboard shows its navigation, under a strict policy and without a request elsewhere', async () => {
  await using opened = await browse('/admin/')
  const nav = opened.page.getByRole('navigation', { name: 'Main' })
  await nav.getByRole('link', { name: 'Queues' }).waitFor()
  expect(await nav.getByRole('link').count()).toBeGreaterThan(10)
  await expectAccessible(opened.page)
})
