// What the router shows where a screen cannot be.
import { Link } from '@tanstack/react-router'
import { EmptyState, ErrorState, SkeletonRows } from '../ui/states.tsx'
import { Verdict } from '../ui/verdict.tsx'

export const NotFound = () => (
  <>
    <Verdict>There is no such page.</Verdict>
    <EmptyState title={window.location.pathname}>
      <p>
        The address may be mistyped, or from another version. <Link to="/">The overview</Link> is a good place to start.
      </p>
    </EmptyState>
  </>
)

/** After a new version was deployed, the parts of the old one are gone: the page is loaded anew then. */
const isOutdated = (error: unknown) =>
  error instanceof Error && /dynamically imported module|Importing a module/.test(error.message)

export function ScreenError({ error, reset }: { error: unknown; reset: () => void }) {
  return (
    <>
      <Verdict>This screen cannot be shown.</Verdict>
      <ErrorState
        what={isOutdated(error) ? 'A part of the dashboard could not be loaded.' : 'The dashboard has a fault here.'}
        error={isOutdated(error) ? new Error('The server may have a new version: load the page again.') : error}
        onRetry={isOutdated(error) ? () => window.location.reload() : reset}
      />
    </>
  )
}

export const ScreenPending = () => (
  <div aria-busy="true">
    <SkeletonRows />
  </div>
)
