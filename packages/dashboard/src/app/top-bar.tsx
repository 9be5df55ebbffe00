// The bar on top of every screen: which system, whose work, what time, how old, and how it looks.
import { Link } from '@tanstack/react-router'
import { choose, usePreference } from '../data/preferences.ts'
import { useSession } from '../data/session.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/overlay/menu.tsx'
import { RANGES, type Range, useChangeFrame, useRange, useTenant } from './address.ts'
import { LiveBadge } from './live-badge.tsx'
import { Logo } from './logo.tsx'
import { openPalette } from './palette-state.ts'

export function TopBar() {
  const { environment } = useSession()
  return (
    <header className="top">
      <Link to="/" className="brand" aria-label="Millrace overview">
        <Logo />
      </Link>
      {environment !== null && (
        <span className="chip env" title="MILLRACE_ENVIRONMENT of the server">
          {environment.toUpperCase()}
        </span>
      )}
      <TenantChoice />
      <button type="button" className="search desk" onClick={() => openPalette()}>
        <Icon name="search" />
        <span>Search or go to…</span>
        <kbd>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <RangeChoice />
      <LiveBadge />
      <Appearance />
      <button type="button" className="chip sq phone" aria-label="Search or go to" onClick={() => openPalette()}>
        <Icon name="search" />
      </button>
      <button type="button" className="chip sq phone" aria-label="Menu" popoverTarget="sections">
        <Icon name="menu" />
      </button>
    </header>
  )
}

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)

/** A caller of one tenant sees only that one, and has nothing to choose. */
function TenantChoice() {
  const { tenants } = useSession()
  const tenant = useTenant()
  const change = useChangeFrame()
  if (tenants?.length === 1) return <span className="chip desk">{tenants[0]}</span>
  if (tenants !== null && tenants.length < 20)
    return (
      <span className="desk">
        <Menu
          name={`Tenant: ${tenant ?? 'all of yours'}`}
          label={tenant ?? 'All your tenants'}
          items={[undefined, ...tenants].map((each) => ({
            key: each ?? '',
            label: each ?? 'All your tenants',
            isChosen: each === tenant,
            onChoose: () => change({ tenant: each }),
          }))}
        />
      </span>
    )
  return (
    <span className="desk tenant-choice">
      <button type="button" className="chip" onClick={() => openPalette('tenant')}>
        <span className="cut">{tenant ?? 'All tenants'}</span>
        <Icon name="down" />
      </button>
      {tenant !== undefined && (
        <button
          type="button"
          className="chip sq"
          aria-label="Show all tenants"
          onClick={() => change({ tenant: undefined })}
        >
          <Icon name="close" />
        </button>
      )}
    </span>
  )
}

function RangeChoice() {
  const { since, label } = useRange()
  const change = useChangeFrame()
  return (
    <span className="desk">
      <Menu
        name={`Time range: ${label}`}
        label={label}
        items={(Object.keys(RANGES) as Range[]).map((range) => ({
          key: range,
          label: RANGES[range][0],
          isChosen: range === since,
          onChoose: () => change({ range: range === '3h' ? undefined : range }),
        }))}
      />
    </span>
  )
}

const THEMES = [
  ['', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
  ['contrast', 'High contrast'],
] as const

function Appearance() {
  const theme = usePreference('theme')
  const zone = usePreference('zone')
  const local = Intl.DateTimeFormat().resolvedOptions().timeZone
  const item = (name: 'theme' | 'zone', value: string, label: string) => ({
    key: `${name} ${value}`,
    label,
    isChosen: (name === 'theme' ? theme : zone) === value,
    onChoose: () => choose(name, value),
  })
  return (
    <Menu
      isRight
      name="Theme and time zone"
      className="chip sq"
      label={<Icon name="theme" />}
      items={[
        ...THEMES.map(([value, label]) => item('theme', value, label)),
        item('zone', 'local', `Times of ${local}`),
        item('zone', 'UTC', 'Times in UTC'),
      ]}
    />
  )
}
