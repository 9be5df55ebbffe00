import { createRootRoute, retainSearchParams } from '@tanstack/react-router'
import { checkFrameSearch } from './address.ts'
import { Frame } from './frame.tsx'

/** The parent of every screen's route. */
export const rootRoute = createRootRoute({
  component: Frame,
  validateSearch: checkFrameSearch,
  // They hold on every screen until they are changed.
  search: { middlewares: [retainSearchParams(['tenant', 'range'])] },
})
