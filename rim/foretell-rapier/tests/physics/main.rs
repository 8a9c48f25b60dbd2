//! Rigid bodies, exactly: saved and loaded, published and adopted, rebuilt, as proxies, and on every platform.

mod canonical;
mod casts;
mod changes;
mod designs;
mod exact;
mod golden;
mod port;
mod roles;
mod rows;
mod touches;
mod yard;
