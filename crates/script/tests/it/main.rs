//! What the crate promises, tried at the hub with real children.

#[cfg(test)]
mod approval;
#[cfg(test)]
mod children;
#[cfg(test)]
mod granted;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod house_rules;
#[cfg(test)]
mod running;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod server;
