// What surrounds every screen.
import { Outlet } from '@tanstack/react-router'
import { usePreference } from '../data/preferences.ts'
import { SessionProvider } from '../data/session.tsx'
import { KeyHints } from '../ui/key-hints.tsx'
import { Toasts } from '../ui/overlay/toasts.tsx'
import { TimeZoneProvider } from '../ui/text/clock.ts'
import { COMMON_HINTS, GlobalKeys } from './global-keys.tsx'
import { useShownHints } from './key-hints.ts'
import { Navigation } from './navigation.tsx'
import { Palette } from './palette.tsx'
import { TopBar } from './top-bar.tsx'

export function Frame() {
  const zone = usePreference('zone')
  return (
    <TimeZoneProvider value={zone}>
      <SessionProvider>
        <a className="skip" href="#main">
          Skip to content
        </a>
        <div className="app">
          <Navigation />
          <div className="col">
            <TopBar />
            <main id="main" tabIndex={-1}>
              <Outlet />
            </main>
            <Foot />
          </div>
        </div>
        <Palette />
        <GlobalKeys />
        <Toasts />
      </SessionProvider>
    </TimeZoneProvider>
  )
}

function Foot() {
  const own = useShownHints()
  const common = COMMON_HINTS.filter(({ keys }) => !own.some((each) => each.keys === keys))
  return <KeyHints hints={[...own, ...common]} end={{ keys: '?', does: 'all keys' }} />
}
