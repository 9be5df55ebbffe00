// What surrounds every screen.
import { Link, Outlet } from '@tanstack/react-router'
import { screens } from './screens.ts'

export function Frame() {
  return (
    <div className="app">
      <nav id="sections" aria-label="Main">
        {screens.map(({ path, title }) => (
          <Link key={path} to={path}>
            {title}
          </Link>
        ))}
      </nav>
      <div className="col">
        <main id="main" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
    </div>
  )
}
