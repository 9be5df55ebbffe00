// What the palette offers for a text.
import { useQuery } from '@tanstack/react-query'
import { basePath } from '../data/base.ts'
import { choose } from '../data/preferences.ts'
import { ask } from '../data/queries.ts'
import { useMay, useSession } from '../data/session.tsx'
import { useGo } from '../ui/link.tsx'
import { useChangeFrame, useTenant } from './address.ts'
import { readAgain, togglePause } from './live-badge.tsx'
import type { PaletteKind } from './palette-state.ts'
import { screens } from './screens.ts'

export interface Entry {
  readonly key: string
  readonly label: string
  /** What kind of thing it is. */
  readonly about: string
  run(): unknown
}

const MOST = 12

export function useEntries(text: string, kind: PaletteKind): readonly Entry[] {
  const wanted = text.trim()
  const places = usePlaces()
  const names = useNames(kind)
  const actions = useActions()
  const tenants = useTenantEntries(wanted)
  const direct = useDirect(wanted)
  if (kind === 'tenant') return tenants.slice(0, MOST)
  const all = [...places, ...names, ...actions]
  if (wanted === '') return [...places, ...actions].slice(0, 16)
  return [...direct, ...fitting(all, wanted), ...tenants.filter(({ key }) => key !== 'tenant')].slice(0, MOST)
}

/** Those whose name begins with the text first, then those with a word that does, then all that hold it. */
function fitting(entries: readonly Entry[], text: string): Entry[] {
  const low = text.toLowerCase()
  const rank = ({ label }: Entry) => {
    const name = label.toLowerCase()
    if (name.startsWith(low)) return 0
    if (name.split(/[\s_.:-]+/).some((word) => word.startsWith(low))) return 1
    return name.includes(low) ? 2 : 3
  }
  return entries
    .map((entry) => ({ entry, at: rank(entry) }))
    .filter(({ at }) => at < 3)
    .sort((a, b) => a.at - b.at)
    .map(({ entry }) => entry)
}

function usePlaces(): Entry[] {
  const may = useMay()
  const { go } = useGo()
  const { pages } = useSession()
  return [
    ...screens
      .filter(({ needs }) => may(needs))
      .map(({ path, title, key }) => ({ key: path, label: title, about: `screen · g ${key}`, run: () => go(path) })),
    ...pages.map(({ path, title }) => ({
      key: path,
      label: title,
      about: 'page of the program',
      run: () => window.location.assign(`${basePath}${path}`),
    })),
  ]
}

/** Queues and types that exist. */
function useNames(kind: PaletteKind): Entry[] {
  const may = useMay()
  const { go } = useGo()
  const isOn = kind === 'all'
  const stats = useQuery({ ...ask('queues', 'stats', {}), enabled: isOn, staleTime: 10_000 }).data
  const types = useQuery({ ...ask('catalogue', 'jobTypes', {}), enabled: isOn, staleTime: 60_000 }).data
  const queues = new Set(stats?.types.map(({ queue }) => queue))
  const typeNames = new Set([
    ...(types?.types.map(({ name }) => name) ?? []),
    ...(stats?.types.flatMap(({ type }) => (type === null ? [] : [type])) ?? []),
  ])
  const inQuery = (name: string) => (/[\s:"]/.test(name) ? `"${name.replaceAll('"', '\\"')}"` : name)
  return [
    ...[...queues].map((name) => ({
      key: `queue ${name}`,
      label: name,
      about: 'queue',
      run: () =>
        go(
          may('queues.list')
            ? `/queues/${encodeURIComponent(name)}`
            : `/jobs?q=${encodeURIComponent(`queue:${inQuery(name)}`)}`,
        ),
    })),
    ...[...typeNames].map((name) => ({
      key: `type ${name}`,
      label: name,
      about: 'jobs of this type',
      run: () => go(`/jobs?q=${encodeURIComponent(`type:${inQuery(name)}`)}`),
    })),
  ]
}

function useActions(): Entry[] {
  const tenant = useTenant()
  const change = useChangeFrame()
  const { via } = useSession()
  const does = (label: string, run: () => unknown): Entry => ({ key: label, label, about: 'action', run })
  return [
    does('Pause or go on with live updates', togglePause),
    does('Read everything again', readAgain),
    ...(tenant === undefined ? [] : [does('Show all tenants', () => change({ tenant: undefined }))]),
    does('Theme: light', () => choose('theme', 'light')),
    does('Theme: dark', () => choose('theme', 'dark')),
    does('Theme: high contrast', () => choose('theme', 'contrast')),
    does('Theme: as the system', () => choose('theme', '')),
    does('Times in UTC', () => choose('zone', 'UTC')),
    does('Times of this computer', () => choose('zone', 'local')),
    ...(via === 'session' ? [does('Log out', logOut)] : []),
  ]
}

function logOut(): void {
  const form = document.createElement('form')
  form.method = 'post'
  form.action = `${basePath}/admin/logout`
  document.body.append(form)
  form.submit()
}

function useTenantEntries(text: string): Entry[] {
  const { tenants } = useSession()
  const change = useChangeFrame()
  const may = useMay()
  const known = useQuery({
    ...ask('tenants', 'list', { limit: 1000 }),
    enabled: may('tenants.list') && text !== '',
    staleTime: 60_000,
  }).data
  const stats = useQuery({ ...ask('queues', 'stats', {}), staleTime: 10_000 }).data
  const names = [
    ...new Set([
      ...(tenants ?? []),
      ...(stats?.tenants.map(({ tenant }) => tenant) ?? []),
      ...(known?.tenants.map(({ name }) => name) ?? []),
    ]),
  ]
  const entry = (name: string): Entry => ({
    key: `tenant ${name}`,
    label: name,
    about: 'show only this tenant',
    run: () => change({ tenant: name }),
  })
  if (text === '') return names.map(entry)
  const found = fitting(names.map(entry), text)
  // There may be more tenants than were read: a name that is typed in full always works.
  return tenants === null && !names.includes(text) ? [...found, entry(text)] : found
}

/** A number is a job, and a text a search. */
function useDirect(text: string): Entry[] {
  const { go } = useGo()
  const entries: Entry[] = []
  if (/^\d{1,19}$/.test(text))
    entries.push({ key: 'job', label: `Job ${text}`, about: 'by its id', run: () => go(`/jobs/${text}`) })
  if (text.includes(':'))
    entries.push({
      key: 'search',
      label: `Jobs with ${text}`,
      about: 'search',
      run: () => go(`/jobs?q=${encodeURIComponent(text)}`),
    })
  return entries
}
