//! What must hold of whole runs.
