import { createRootRoute } from '@tanstack/react-router'
import { Frame } from './frame.tsx'

/** The parent of every screen's route. */
export const rootRoute = createRootRoute({ component: Frame })
