import { testScenarios } from './scenario-suite.ts'

testScenarios('f09', 'f15b')
